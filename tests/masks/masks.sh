#!/bin/sh
# Masks that hold: names present and absent, what leads to them, the host's tree
# and git before, during and after, sandboxes side by side, and whoever is killed.
. "${srcdir:?}"/tests/lib.sh
need_sandbox
command -v git >/dev/null || { echo "1..0 # SKIP no git"; exit 0; }
cp "$top_builddir"/tests/masks/probe "$work"/mask-probe || exit 99

# Everything there is, and what is in it; of times only those of files. Git
# itself writes its index.
tree() {
	(cd "$p" && find . -path ./.git/index -o -type d \
		-printf '%p %y %m %U:%G %i\n' -o -printf \
		'%p %y %m %U:%G %i %s %T@ %l\n' | sort
	find . -type f ! -path ./.git/index -print0 | sort -z |
		xargs -0 cat | cksum)
}
git_() { as_owner git -C "$p" "$@"; }
# clean WHAT: git sees nothing, and would neither add nor remove anything
clean() {
	is "$caller: $1: git status" "$(git_ status --porcelain -uall 2>&1)" ""
	is "$caller: $1: git add -A" "$(git_ add -A -n . 2>&1)" ""
	is "$caller: $1: git clean" "$(git_ clean -ndx 2>&1)" ""
}
# run [OPTION...] -- CMD: on the project, with nothing of standard input
run() { as "$caller" "$oc" run --stdin null --project "$p" "$@"; }
same_tree() { is "$caller: $1: the tree is as before" "$(tree)" "$before"; }
# start NAME OPTION... -- CMD: in the background, up when $work/up is there;
# leaves $pid
start() {
	rm -f "$work"/started
	as "$caller" "$oc" run --stdin null --status-fd 3 --log-fd 4 --project "$p" "$@" \
		3>"$work"/started 4>"$work"/log >"$work"/out 2>&1 &
	pid=$!
	for _ in $(seq 100); do
		grep -q started "$work"/started 2>/dev/null && return
		sleep 0.1
	done
}
# sandbox_pid: pid 1 of the last one started
sandbox_pid() { sed -n 's/.*"started", "pid": \([0-9]*\),.*/\1/p' "$work"/started; }
# all_of: every process of the program on this project, but pid 1s inside
all_of() {
	for f in /proc/[0-9]*/cmdline; do
		{ tr '\0' ' ' <"$f"; } 2>/dev/null | grep -qF "$oc run" || continue
		d=${f%/cmdline}
		[ "$(readlink "$d"/exe)" = "$oc" ] && echo "${d#/proc/}"
	done
}
# the janitor has a session of its own, and no namespace
janitors() {
	for q in $(all_of); do
		[ "$(cut -d' ' -f6 /proc/"$q"/stat)" = "$q" ] &&
			[ "$(readlink /proc/"$q"/ns/pid)" = \
			"$(readlink /proc/self/ns/pid)" ] && echo "$q"
	done
}
stubs() { (cd "$p" && find . -type s -o -type d -perm 1555 | sort); }
no_stubs() { [ -z "$(stubs)" ]; }

prepare() {
	rm -rf "$p"; mkdir -p "$p/a/b" "$p/secret" "$p/d"
	echo one >"$p/one"; echo two >"$p/a/two"; echo three >"$p/a/b/three"
	echo key >"$p/a/b/id.pem"; echo key >"$p/id.pem"; echo s >"$p/secret/s"
	echo other >"$p/other"; echo other >"$p/a/other"; echo env >"$p/.env"
	ln -s a/b "$p/to-dir"; ln -s ../one "$p/d/to-file"; ln -s "$p/a" "$p/d/abs"
	ln -s none "$p/dangling"
	cp "$work"/mask-probe "$p/.mask-probe"
	if [ "$owner" ]; then chown -hR $owner:$owner "$p"; fi
	as_owner git -C "$p" init -q .
	as_owner git -C "$p" add -A
	as_owner git -C "$p" -c user.name=t -c user.email=t@t commit -qm one
}
as_owner() { if [ "$owner" ]; then as user "$@"; else as "$caller" "$@"; fi; }

absent_names() {
	for name in .claude .openclaudia a/.claude; do
		is "$caller: $name looks absent and cannot be made" "$(run \
			--mask a/.claude -- ./.mask-probe absent "$name" other)" ""
	done
	is "$caller: below what is absent" "$(run --mask a/.git/hooks \
		--mask x/y/z -- sh -c './.mask-probe absent a/.git other
		./.mask-probe absent x other')" ""
	is "$caller: nothing of them is in a listing of git" \
		"$(run -- git status --porcelain -uall)" ""
	same_tree "absent names"
}

present_names() {
	for name in .env d/to-file a/b/id.pem dangling; do
		is "$caller: $name is hidden" "$(run --mask "$name" -- \
			./.mask-probe absent "$name" other)" ""
	done
	is "$caller: a directory is hidden" "$(run --mask secret -- sh -c '
		ls -A secret; cat secret/s; echo x >secret/y; rm -r secret
		mv secret s2; rmdir secret' 2>&1 | sed 's/.*: //')" \
"No such file or directory
Read-only file system
Device or resource busy
Device or resource busy
Device or resource busy"
	is "$caller: where a link leads is hidden" "$(run --mask d/to-file -- \
		sh -c 'cat one d/to-file 2>&1' | sed 's/.*: //' | uniq)" \
		"No such file or directory"
	is "$caller: on the way to an absent name a link stays" "$(run \
		--mask to-dir/new -- sh -c 'rm to-dir; mv to-dir x; echo >to-dir/new
		echo >a/b/new; mkdir a/b/new' 2>&1 | sed 's/.*: //')" \
"Device or resource busy
Device or resource busy
Directory nonexistent
Directory nonexistent
File exists"
	is "$caller: below a file there is nothing, and it stays one" "$(run \
		--mask one/x/y -- sh -c 'rm one; mv one x; echo more >>one
		mkdir one' 2>&1 | sed 's/.*: //')" \
"Device or resource busy
Device or resource busy
File exists"
	is "$caller: but it can be written" "$(cat "$p/one")" "one
more"
	echo one >"$p/one"; git_ update-index --refresh >/dev/null
	before=$(tree)
	is "$caller: a control file is read-only" "$(as_owner sh -c "echo control >$p/.claude"
		run -- sh -c 'cat .claude; echo x >.claude; rm .claude; mv .claude g; mkdir .claude' \
			2>&1 | sed 's/.*: //'
		rm "$p/.claude")" \
"control
Read-only file system
Device or resource busy
Device or resource busy
File exists"
	same_tree "present names"
}

globs() {
	is "$caller: a pattern at any depth" "$(run --mask '**/*.pem' -- sh -c '
		cat id.pem a/b/id.pem; cat a/two' 2>&1 | sed 's/.*: //')" \
"No such file or directory
No such file or directory
two"
	is "$caller: a pattern of one depth" "$(run --mask 'a/*/*.pem' -- \
		cat id.pem a/b/id.pem 2>&1 | sed 's/.*: //')" \
"key
No such file or directory"
	is "$caller: a period is like any other byte" "$(run --mask '?env' -- \
		cat .env 2>&1 | sed 's/.*: //')" "No such file or directory"
	is "$caller: all below" "$(run --mask 'a/**' -- ls a/b 2>&1)" ""
	for glob in 'i*d.pem' '*.p[e]m' 'id.pe?' 'id.pem*' '*id.pem' '[!a]d.pe*' \
	    '[i]d*m' 'id\.[p]em' '*d.pem' '???pem' 'id*.*pem'; do
		is "$caller: $glob matches" "$(run --mask "$glob" -- cat id.pem \
			2>&1 | sed 's/.*: //')" "No such file or directory"
	done
	for glob in 'id.p?' 'i?.pemx*' '*pe' 'id.pem?' '*xid.pem' 'd*m' '[x]d.pem' \
	    'id.pem*m' 'id\*pem*' '*.pem[' 'id[.pem'; do
		is "$caller: $glob does not" "$(run --mask "$glob" -- cat id.pem \
			2>&1)" key
	done
	is "$caller: classes" "$(run --mask '[n-p]ne' -- cat one 2>&1 |
		sed 's/.*: //')" "No such file or directory"
	status "$caller: one that leads through a link is refused" 125 \
		run --mask 'to-dir/*.pem' -- true
	ok "$caller: one that matches nothing" run --mask '**/*.none' -- true
	same_tree "patterns"
}

# Work beside masks goes on, and what leads to them stays.
beside() {
	is "$caller: parents stay" "$(run --mask a/b/.claude --mask a/.env -- \
		sh -c 'mv a a2; mv a/b a/b2; mv a/b b; rmdir a/b; rm -rf a/b/.claude
		mkdir z; mv -T --exchange a z 2>/dev/null; rmdir z; ls -d a/b' 2>&1 |
		sed 's/.*: //')" \
"Device or resource busy
Device or resource busy
Device or resource busy
Device or resource busy
Device or resource busy
a/b"
	is "$caller: renames, links, and saves go on" "$(run \
		--mask a/b/.claude --mask a/.env --mask .env -- sh -ec '
		mv a/b/three three; mv three a/b/three
		ln a/two d/hard; rm d/hard
		cp -p a/two a/b/.two.tmp; mv a/b/.two.tmp a/b/two; rm a/b/two
		mkdir a/new; mv a/new d/new; rmdir d/new' 2>&1)" ""
	is "$caller: git mv, where git works" "$(rm -rf "$work"/rw
		cp -a "$p" "$work"/rw; [ "$owner" ] || [ "$caller" = root ] ||
			chown -R $user_id:$user_id "$work"/rw
		for words in "mv a/b/three d/three" "mv a/two a/b/two" \
		    "status --porcelain"; do
			as "$caller" "$oc" git --stdin null --project "$work"/rw \
				--mask a/b/.claude -- $words 2>&1
		done; rm -rf "$work"/rw)" \
"R  a/two -> a/b/two
R  a/b/three -> d/three"
	run --mask a/b/.claude --mask a/.env --mask .env -- true
	is "$caller: a swapper" "$(run --mask a/b/.claude -- ./.mask-probe swap \
		a/b/.claude 10000)" "0 wins in 10000 rounds"
	git_ update-index --refresh >/dev/null
}

nested_roots() {
	mkdir -p "$p/r/o"; echo r >"$p/r/o/f"
	[ "$owner" ] && chown -R "$owner:$owner" "$p/r"
	is "$caller: what leads to a root in another stays" "$(run \
		--ro "$p/r/o" -- sh -c 'mv r r2; mv r/o o; echo >r/o/f' 2>&1 |
		sed 's/.*: //')" \
"Device or resource busy
Device or resource busy
Read-only file system"
	is "$caller: absent in a read-only root needs nothing" "$(run \
		--ro "$p/r/o" --mask r/o/new -- sh -c 'echo >r/o/new' 2>&1 |
		sed 's/.*: //'; ls -A "$p/r/o")" "Read-only file system
f"
	is "$caller: present in a read-only root is hidden" "$(run \
		--ro "$p/r/o" --mask r/o/f -- cat r/o/f 2>&1 | sed 's/.*: //')" \
		"No such file or directory"
	rm -r "$p/r"
}

odd_names() {
	long=$(printf %0255d 7)
	invalid=$(printf 'x\377y')
	newline='new
line'
	# shellcheck disable=SC1003
	for name in "$long" "$invalid" "$newline" 'back\slash' ' blank' '-dash' \
	    "a/b/$newline"; do
		is "$caller: absent: $(printf %s "$name" | head -c 12 |
			LC_ALL=C tr -c ' -~' '?')" \
			"$(run --mask "$name" -- ./.mask-probe absent "./$name" other)" ""
		as_owner touch "$p/./$name"
		is "$caller: and present" \
			"$(run --mask "$name" -- ./.mask-probe absent "./$name" other)" ""
		rm "$p/./$name"
	done
	same_tree "odd names"
}

# The file system is one without sockets.
no_sockets() {
	is "$caller: without sockets it is a directory" "$(as "$caller" \
		"$work"/mask-probe nosock "$oc" run --stdin null --project "$p" -- \
		sh -c 'ls -A .claude; echo x >.claude/x; rmdir .claude; mv .claude x
		echo y >.claude; git status --porcelain -uall' 2>&1 | sed 's/.*: //')" \
"Read-only file system
Device or resource busy
Device or resource busy
Is a directory"
	same_tree "without sockets"
}

side_by_side() {
	start -- sh -c 'while ! [ -e d/end ]; do sleep 0.05; done
		mkdir .claude; echo x >.claude; ls -d .claude/.'
	clean "during"
	is "$caller: there is a stub" "$(stubs)" "./.claude
./.openclaudia"
	for _ in 1 2 3; do
		ok "$caller: a second one comes and goes" run --mask .claude -- true
	done
	is "$caller: and takes nothing away" "$(stubs)" "./.claude
./.openclaudia"
	as_owner touch "$p/d/end"; wait $pid
	rm "$p/d/end"
	is "$caller: the first one's mask held" "$(sed 's/.*: //' "$work"/out)" \
"File exists
Directory nonexistent
No such file or directory"
	clean "after"
	same_tree "side by side"
	for i in 1 2 3 4; do
		(for _ in 1 2 3 4 5 6; do
			run -- sh -c 'mkdir .claude 2>/dev/null && echo WON'
		done) >"$work"/many.$i 2>&1 &
	done
	dirty=
	for _ in $(seq 20); do
		dirty=$dirty$(git_ status --porcelain -uall 2>&1)
	done
	wait
	is "$caller: many at once: no wins, git sees nothing" \
		"$dirty$(cat "$work"/many.*)" ""
	same_tree "many at once"
}

killed() {
	start -- sleep 60
	kill -9 "$(sandbox_pid)"; wait $pid
	same_tree "kill -9 of pid 1"
	start -- sleep 60
	helper=$(all_of | sort -n | head -n 1)
	[ "$caller" = root ] || helper=$(for q in $(all_of); do
		[ "$(cut -d' ' -f4 /proc/"$q"/stat)" = "$pid" ] && echo "$q"
	done)
	kill -9 ${helper:-$pid} $pid 2>/dev/null; wait $pid 2>/dev/null
	eventually "$caller: kill -9 of the helper: no stub is left" no_stubs
	same_tree "kill -9 of the helper"
	start -- sleep 60
	q=$(janitors); kill -9 $q
	clean "the janitor is dead"
	kill -9 "$(sandbox_pid)"; wait $pid
	is "$caller: kill -9 of the janitor: the stubs stay" "$(stubs)" "./.claude
./.openclaudia"
	clean "with what it left"
	ok "$caller: the next one" run -- true
	same_tree "takes them away"
	start -- sleep 60
	kill -9 $(all_of) $pid 2>/dev/null; wait $pid 2>/dev/null
	eventually "$caller: kill -9 of all: nothing runs" sh -c \
		"! kill -0 $(sandbox_pid) 2>/dev/null"
	clean "all are dead"
	ok "$caller: the next one" run -- true
	same_tree "takes them away"
}

# A program of the host takes away what masks are mounted on.
mended() {
	mkdir "$p/d/go" && [ "$owner" ] && chown "$owner:$owner" "$p/d/go"
	start --mask .env --mask a/b/.claude -- sh -c '
		until [ -e d/go/1 ]; do sleep 0.05; done
		cat .env; mkdir .claude; mkdir a/b/.claude; echo x >.git/config
		touch d/go/2; until [ -e d/go/3 ]; do sleep 0.05; done'
	rm "$p/.claude" "$p/a/b/.claude"
	echo new >"$work"/new; chmod 644 "$work"/new
	as_owner sh -c "cp '$work'/new '$p/.env.tmp' && mv '$p/.env.tmp' '$p/.env'"
	sleep 1
	is "$caller: a stub that was removed is made again" "$(stubs)" \
"./.claude
./.openclaudia
./a/b/.claude"
	as_owner chmod 777 "$p/.openclaudia"
	as_owner touch "$p/d/go/1"
	eventually "$caller: what was replaced" test -e "$p/d/go/2"
	is "$caller: is masked again" "$(sed 's/.*: //' "$work"/out)" \
"No such file or directory
File exists
File exists
Read-only file system"
	as_owner touch "$p/d/go/3"; wait $pid
	is "$caller: and it is the new one" "$(cat "$p/.env")" new
	is "$caller: a stub whose mode was changed goes, too" \
		"$(ls -d "$p"/.openclaudia* 2>&1 | sed 's/.*: //')" \
		"No such file or directory"
	rm -r "$p/d/go"
	as_owner git -C "$p" checkout -q .env
	before=$(tree)
}

# ... and puts another in its place that has the same inode number.
same_number() {
	mkdir "$p/d/go" && [ "$owner" ] && chown "$owner:$owner" "$p/d/go"
	for round in 1 2 3; do
		as_owner sh -c "rm -f '$p'/d/go/*; echo first >'$p/d/secret'"
		start --mask d/secret -- sh -c '
			until [ -e d/go/1 ]; do sleep 0.05; done; cat d/secret'
		number=$(stat -c %i "$p/d/secret")
		as_owner sh -c "rm '$p/d/secret'; echo second >'$p/d/secret'"
		diag "inode $number, then $(stat -c %i "$p/d/secret")"
		sleep 1
		as_owner touch "$p/d/go/1"; wait $pid
		like "$caller: one of the same number, round $round" \
			"$(cat "$work"/out)" "*No such file*was replaced*"
	done
	rm -r "$p/d/secret" "$p/d/go"
	same_tree "the same number"
}

# ... or a directory that leads there.
ancestors() {
	mkdir "$p/d/go" && [ "$owner" ] && chown "$owner:$owner" "$p/d/go"
	as_owner sh -c "echo env >'$p/a/.env'"
	start --mask a/.env --mask a/b/.claude --mask a/b/three -- sh -c '
		until [ -e d/go/1 ]; do sleep 0.05; done
		cat a/.env a/b/three; mkdir a/b/.claude; mv a b; mv a/b b
		touch d/go/2; until [ -e d/go/3 ]; do sleep 0.05; done'
	as_owner sh -c "cd '$p' && cp -a a new && rm -f new/b/.claude &&
		echo new >new/.env && mv a old && mv new a"
	eventually "$caller: a directory was replaced: a stub is made in the new one" \
		test -S "$p/a/b/.claude"
	sleep 1
	as_owner touch "$p/d/go/1"
	eventually "$caller: ... what is in the new one" test -e "$p/d/go/2"
	is "$caller: ... is masked, and it stays" "$(sed 's/.*: //' "$work"/out)" \
"No such file or directory
No such file or directory
File exists
Device or resource busy
Device or resource busy"
	as_owner touch "$p/d/go/3"; wait $pid
	like "$caller: ... and told" "$(cat "$work"/started "$work"/out)" \
"*\"violation\", \"path\": \"$p/a/.env\", \"moved\": null, \"what\": \"replaced\"*mask $p/a/.env: was replaced*"
	is "$caller: ... no stub is left in either" "$(stubs)" ""
	rm -r "$p/a"; as_owner mv "$p/old" "$p/a"
	rm -r "$p/d/go" "$p/a/.env"
	same_tree "replaced directories"
}

# The command closes the directories to itself, which are its own.
closed_directories() {
	for mode in 0 555 100; do
		is "$caller: directories closed by the command: mode $mode" \
			"$(run --mask a/b/.claude -- sh -c "chmod $mode a/b a ." 2>&1)" ""
		is "$caller: ... they are, for the host" "$(stat -c %a "$p"
			chmod 755 "$p"; stat -c %a "$p/a")" "$mode
$mode"
		chmod 755 "$p/a"; chmod 755 "$p/a/b"
		same_tree "closed directories: mode $mode"
	done
	seq -f "--mask none%.0f" 8200 >"$work"/names
	# shellcheck disable=SC2016
	fails "$caller: more absent names than can be kept" as "$caller" \
		xargs -a "$work"/names -n 20000 sh -c '"$0" run --project "$@" \
		-- true' "$oc" "$p"
	like "$caller: ... is told" "$said" "*is one absent name too many*"
	same_tree "too many absent names"
}

# Masks in more directories than there may be descriptors.
few_descriptors() {
	as_owner sh -c "cd '$p' && mkdir -p d/go many && cd many && for i in \$(seq 150); do
		mkdir d\$i; echo one >d\$i/s; done"
	rm -f "$work"/started
	as "$caller" prlimit --nofile=90:90 "$oc" run --stdin null --project "$p" \
		--status-fd 3 --mask 'many/*/s' -- sh -c '
		until [ -e d/go/1 ]; do sleep 0.05; done; cat many/*/s' \
		3>"$work"/started >"$work"/out 2>&1 &
	pid=$!
	eventually "$caller: with few descriptors" grep -q started "$work"/started
	as_owner sh -c "cd '$p/many/d1' && echo two >t && mv t s"
	sleep 1
	as_owner touch "$p/d/go/1"; wait $pid
	is "$caller: ... all masks hold" "$(grep -c 'No such file' "$work"/out)" 150
	rm -r "$p/many" "$p/d/go"
	same_tree "few descriptors"
}

# What was put over a repository, or a root in another, goes with what it is on;
# then nothing of what is there is shown.
views() {
	as_owner sh -c "cd '$p' && mkdir -p d/go r/o && echo r >r/o/f"
	start --ro "$p/r/o" -- sh -c '
		until [ -e d/go/1 ]; do sleep 0.05; done
		mkdir .git/hooks; echo x >.git/config; mv .git git; echo x >r/o/f
		ls -A .git r/o; touch d/go/2; until [ -e d/go/3 ]; do sleep 0.05; done
		mkdir .git; echo x >.git; ls -A .git/'
	as_owner git init -q "$p/r/git"
	as_owner "$work"/mask-probe exchange "$p/r/git/.git" "$p/.git" 1
	as_owner sh -c "cd '$p/r' && mkdir n && echo n >n/f && mv o old && mv n o"
	sleep 1
	as_owner touch "$p/d/go/1"
	eventually "$caller: the host made its repository anew" test -e "$p/d/go/2"
	is "$caller: ... and the new one is not shown" \
		"$(grep -v oc-nsrun "$work"/out | sed 's/.*: //')" \
"Read-only file system
Read-only file system
Device or resource busy
Read-only file system
.git:

r/o:"
	rm -r "$p/.git"
	eventually "$caller: ... and gone it cannot be made" test -S "$p/.git"
	sleep 0.5
	as_owner touch "$p/d/go/3"; wait $pid
	is "$caller: ... as is seen" "$(grep -v oc-nsrun "$work"/out | tail -n 3 |
		sed 's/.*: //')" \
"File exists
Directory nonexistent
No such file or directory"
	like "$caller: ... and told" "$(cat "$work"/started)" \
"*\"path\": \"$p/.git\", \"moved\": null, \"what\": \"replaced\"*"
	is "$caller: ... and no stub is left" "$(stubs)" ""
	is "$caller: ... nor a trace in the other root" "$(cat "$p/r/o/f")" n
	mv "$p/r/git/.git" "$p/.git"; rm -r "$p/d/go" "$p/r"
	same_tree "views"
}

# They are exchanged all the time, and the command makes what is masked.
swapped_outside() {
	as_owner mkdir -p "$p/x/b"
	start --mask a/b/.claude -- ./.mask-probe plant a/b/.claude d/end
	as_owner "$work"/mask-probe exchange "$p/a" "$p/x" 10000
	is "$caller: 10,000 exchanges from outside" $? 0
	as_owner touch "$p/d/end"; wait $pid
	rm "$p/d/end"
	is "$caller: ... no wins: nothing is at the name" \
		"$(ls -d "$p"/[ax]/b/.claude 2>/dev/null)" ""
	moved=$(ls -d "$p"/[ax]/b/.claude.oc-nsrun-* 2>/dev/null)
	if [ "$moved" ]; then
		like "$caller: ... and what there was is told" "$(cat "$work"/out)" \
			"*planted*appeared at a masked name and was moved aside*"
		# shellcheck disable=SC2086
		as_owner rm -r $moved
	else
		pass "$caller: ... and never was"
	fi
	rm -r "$p/x"
	same_tree "exchanged directories"
}

# Nothing but inotify(7) tells of changes.
without_dnotify() {
	as_oc=$oc; oc=$work/nodnotify
	printf '#!/bin/sh\nexec %s nodnotify %s "$@"\n' "$work/mask-probe" \
		"$as_oc" >"$oc"; chmod 755 "$oc"
	ancestors
	oc=$as_oc
}

violations() {
	start -- sh -c 'until [ -e d/end ]; do sleep 0.05; done'
	q=$(janitors)	# looked for now: the program is not patient for long
	kill -STOP $q
	rm -f "$p/.claude"
	as_owner sh -c "mkdir -p '$p/.claude' && echo evil >'$p/.claude/x'"
	as_owner touch "$p/d/end"
	sleep 1
	kill -CONT $q
	wait $pid
	rm "$p/d/end"
	is "$caller: what appeared is moved aside" "$(cat \
		"$p/.claude.oc-nsrun-1/x"; ls -d "$p/.claude" 2>&1 | sed 's/.*: //')" \
"evil
No such file or directory"
	like "$caller: and told" "$(cat "$work"/started "$work"/out)" \
"*\"event\": \"violation\", \"path\": \"$p/.claude\", \"moved\": \"$p/.claude.oc-nsrun-1\"*mask $p/.claude -> $p/.claude.oc-nsrun-1: appeared*"
	like "$caller: and logged" "$(cat "$work"/log)" \
"*\"event\": \"violation\"*\"path\": \"$p/.claude\", \"moved\": \"$p/.claude.oc-nsrun-1\"*termination*"
	rm -r "$p/.claude.oc-nsrun-1"
	same_tree "a violation"
}

read_only_places() {
	mkdir "$p/closed"; [ "$owner" ] && chown "$owner:$owner" "$p/closed"
	chmod 555 "$p/closed"
	case $caller in
	user)	status "$caller: a closed directory of one's own is refused" 125 \
			run --mask closed/x -- true ;;
	esac
	rmdir "$p/closed"
	if [ "$(id -u)" = 0 ]; then
		mkdir "$p/foreign"; chown 54321:54321 "$p/foreign"
		is "$caller: one of somebody else's needs nothing" "$(run \
			--mask foreign/x -- sh -c 'mkdir foreign/x' 2>&1 |
			sed 's/.*: //')" "Permission denied"
		rmdir "$p/foreign"
	fi
}

plan_tells() {
	like "$caller: rows" "$(as "$caller" "$oc" explain --project "$p" \
		--mask .env -- true)" "*.claude *absent*.env *hidden*"
	as_owner sh -c 'cd "$1" && mkdir many && cd many && seq 2000 | xargs touch' \
		sh "$p"
	like "$caller: two thousand masks, in a few words" "$(as "$caller" \
		timeout 20 "$oc" explain --project "$p" --mask 'many/*' -- true)" \
		"*hidden*masks  *more
*"
	is "$caller: and all of them hold" "$(run --mask 'many/*' -- sh -c '
		cat many/* 2>/dev/null; rm -rf many 2>/dev/null; ls many | wc -l')" 2000
	rm -r "$p/many"
	like "$caller: JSON" "$(as "$caller" "$oc" explain --json --project "$p" \
		--mask .env --mask a/b/x -- true)" \
"*\"kind\": \"pin\"*\"kind\": \"absent\"*\"kind\": \"hide\"*"
}

worktree() {
	w=$(home $caller)/wt
	[ "$owner" ] && w=$(home user)/wt
	as_owner git -C "$p" worktree add -q "$w" -b wt 2>/dev/null
	is "$caller: in a linked worktree .git is a file and stays it" "$(
		as "$caller" "$oc" run --stdin null --project "$w" \
		--mask .git/hooks -- sh -c 'rm .git; mkdir -p .git/hooks
		cut -c 1-7 .git' 2>&1 | sed 's/.*: //')" \
"Device or resource busy
Not a directory
gitdir:"
	is "$caller: and git sees nothing there" \
		"$(as_owner git -C "$w" status --porcelain -uall)" ""
	as_owner git -C "$p" worktree remove --force "$w"
	as_owner git -C "$p" branch -qD wt
}

[ "$(id -u)" = 0 ] && modes="root user others" || modes=user
for mode in $modes; do
	caller=$mode owner=
	p=$(project "$caller")
	[ "$mode" = user ] && [ "$(id -u)" = 0 ] && owner=$user_id
	if [ "$mode" = others ]; then	# root, on a user's project
		caller=root owner=$user_id p=$(project user)
	fi
	prepare
	before=$(tree)
	clean "before"
	absent_names; present_names; globs; beside; nested_roots; odd_names
	no_sockets; side_by_side; killed; mended; same_number
	ancestors; few_descriptors; views; swapped_outside; closed_directories; without_dnotify
	violations; read_only_places
	plan_tells; worktree
	clean "in the end"
	is "$mode: no stub is left" "$(stubs)" ""
done
done_testing
