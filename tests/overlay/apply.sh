#!/bin/sh
# diff, apply and discard: what a layer holds, written to the project or not.
# Layers are made by commands, and where those cannot, planted by hand.
. "${srcdir:?}"/tests/lib.sh
. "$srcdir"/tests/overlay/lib.sh
need_sandbox
need_overlay

fill() {
	fresh "$1"
	as "$1" sh -c 'mkdir d d/sub big old; echo a >d/a; echo b >d/b
		echo c >d/sub/c; echo f >f; echo g >g; echo m >m; ln -s f l
		echo o >old/o; echo p >old/p; echo k >k; chmod 600 k'
}
# The system's, which everybody can execute.
python() {
	python_as=$1; shift
	as_maker "$python_as" env PATH=/usr/bin:/bin python3 "$@"
}
on() { run_on=$1; shift; run "$run_on" --overlay-project -- sh -c "$*"; }
applied() {
	status "$1: apply: $2" 0 cmd "$1" apply
	is "$1: apply: $2: says nothing" "$said" ""
	is "$1: apply: $2: and nothing is left of it" "$(ls -A "$S"/overlays)" ""
}
# What the command saw is what the project becomes.
same() {
	fill "$1"
	inside=$(on "$1" "$3"'
		find . -mindepth 1 ! -path "./.git*" ! -name ".claude" \
		! -name ".openclaudia" -printf "%y %m %p %l\n" | LC_ALL=C sort
		find . -type f -exec cksum {} + | LC_ALL=C sort -k3')
	applied "$1" "$2"
	is "$1: $2: the project is what the command saw" "$(picture "$P")" \
		"$inside"
}

as_seen() {
	same "$1" "content" 'echo new >f; echo more >>d/a; : >g'
	same "$1" "new files and directories" 'mkdir -p n/e/w; echo 1 >n/e/w/1
		ln -s ../x n/l; : >empty; mkdir n/hollow; chmod 711 n/hollow'
	same "$1" "deleted files and directories" 'rm g d/a; rm -r old'
	same "$1" "modes" 'chmod 755 f; chmod 700 d; chmod 400 g; chmod 640 k'
	same "$1" "a file replaced by rename" 'echo x >.t; mv .t f; sed -i s/a/A/ d/a'
	same "$1" "links" 'ln -sf g l; rm f; ln -s /etc/passwd f; ln -s nowhere n'
	same "$1" "a directory made anew" 'rm -r d; mkdir d; echo z >d/z; echo A >d/a'
	same "$1" "one made anew in one made anew" 'rm -r d; mkdir -p d/sub
		echo y >d/sub/y'
	same "$1" "a renamed directory" 'mv old new; mv d/sub d/bus'
	same "$1" "a directory for a file" 'rm f; mkdir f; echo i >f/i'
	same "$1" "a file for a directory" 'rm -r d; echo now >d'
	same "$1" "a link for a directory" 'rm -r d; ln -s old d'
	same "$1" "a file for a link" 'rm l; echo now >l'
	same "$1" "closed directories" 'mkdir shut; echo s >shut/s; mkdir shut/in
		echo t >shut/in/t; chmod 500 shut/in shut; chmod 500 old'
	chmod -R u+w "$P"
	same "$1" "names of any bytes" 'touch "$(printf "a\nb")" " " "-n" "\\" \
		"$(printf "\001\377")" ".." 2>/dev/null; mkdir "$(printf "\t")"
		echo q >"$(printf "\t")/*"; touch -- --help'
	same "$1" "holes" 'truncate -s 40M hole; printf x | dd of=hole bs=1 \
		seek=30M conv=notrunc 2>/dev/null'
	is "$1: holes stay holes" "$(($(du -k "$P"/hole | cut -f1) < 1024))" 1
	same "$1" "nothing but opened" 'exec 3<>f; exec 4>>g; touch d/a'
}

lists() {
	fill "$1"
	on "$1" 'echo new >f; rm g; chmod 755 m; ln -s f n; mkdir e; : >e/x
		rm -r d; mkdir d; echo a >d/a; mv old new; mkfifo ff
		echo x >"$(printf "q\n\033[2J")"'
	status "$1: diff: there are changes" 1 cmd "$1" diff
	is "$1: diff: one line each" "$said" "D  100644 000000 d/b
D  040755 000000 d/sub/
A  000000 040755 e/
A  000000 100644 e/x
M  100644 100644 f
A- 000000 010644 ff
D  100644 000000 g
M  100644 100755 m
A  000000 120777 n -> f
A  000000 040755 new/
A  000000 100644 new/o
A  000000 100644 new/p
D  040755 000000 old/
A  000000 100644 q\\012\\033[2J"
	said=$(cmd "$1" diff --text)
	like "$1: --text" "$said" "*--- a/f
+++ b/f
@@ -1,1 +1,1 @@
-f
+new
*"
	like "$1: --text: a new file" "$said" "*--- /dev/null
+++ b/new/o
@@ -0,0 +1,1 @@
+o
*"
	if command -v python3 >/dev/null; then
		is "$1: --json" "$(cmd "$1" diff --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
c = {x["path"]: x for x in d["changes"]}
print(d["v"], len(d["changes"]), c["f"]["change"], c["m"]["mode"],
    c["ff"]["why_not"], "q\n\033[2J" in c)')" \
			"1 14 M 100755 is a socket, a FIFO or a device True"
	else
		skip "$1: --json" "no python3"
	fi
	like "$1: a layer that is the same shows nothing" "$(fill "$1"
		on "$1" 'exec 3<>f; : >t; rm t; chmod 755 m; chmod 644 m'
		cmd "$1" diff; echo "rc $?")" "rc 0"
	fill "$1"
	before=$(picture "$P")
	on "$1" 'rm -r d; echo x >f'
	status "$1: discard" 0 cmd "$1" discard
	is "$1: discard: nothing is left" "$(ls -A "$S"/overlays)" ""
	is "$1: discard: the project is as it was" "$(picture "$P")" "$before"
	is "$1: discard: the next begins anew" "$(on "$1" 'cat f')" f
}

# What --text prints is what patch(1) makes the new of the old with.
patches() {
	[ "$1" = user ] || return 0
	command -v patch >/dev/null || { skip "user: --text and patch" "no patch"
		return; }
	bad=''
	for seed in 1 2 3 4 5 6 7 8; do
		fresh user
		as user awk -v seed=$seed 'BEGIN {
			srand(seed)
			for (f = 0; f < 12; f++) {
				n = int(rand() * 60)
				for (i = 0; i < n; i++) print int(rand() * 6) >"f" f
				if (rand() < 0.3) printf "%s", "end" >"f" f
				printf "" >"f" f
			}
		}'
		as user cp -r . ../copy
		run user --overlay-project -- awk -v seed=$seed 'BEGIN {
			srand(seed + 100)
			for (f = 0; f < 12; f++) {
				n = 0
				while ((getline line <("f" f)) > 0) {
					if (rand() < 0.15) continue
					if (rand() < 0.15) out[++n] = int(rand() * 6)
					out[++n] = line
				}
				if (rand() < 0.2) out[++n] = "x"
				for (i = 1; i <= n; i++) print out[i] >("n" f)
				printf "" >("n" f)
				system("mv n" f " f" f)
			}
		}'
		cmd user diff --text >"$work/text"
		(cd "$(home user)/copy" && patch -s -p1 --posix <"$work/text") \
			>"$work/said" 2>&1 || bad="$bad $seed: $(cat "$work/said")"
		cmd user apply
		(cd "$(home user)/copy" && find . -size 0 -delete
			cd "$P" && find . -size 0 -delete)
		diff -r "$(home user)/copy" "$P" >/dev/null || bad="$bad $seed"
		rm -rf "$(home user)/copy"
	done
	is "user: --text is what patch makes the new of the old with" "$bad" ""
	# More differences than are looked for: all of the old, all of the new.
	fresh user
	as user seq 1 9000 | as user sh -c 'cat >f'
	run user --overlay-project -- sh -c 'seq 20000 29000 >f'
	is "user: --text has a bound, and still is a diff" "$(cmd user diff --text |
		awk '/^-[0-9]/ { o++ } /^\+[0-9]/ { n++ } END { print o, n }')" \
		"9000 9001"
	cmd user discard
	run user --overlay-project -- sh -c 'printf "a\\0b" >f'
	like "user: --text: what is no text is said to be so" \
		"$(cmd user diff --text)" "*(is not text)"
}

# refused CALLER WHAT NAME WHY: apply refuses NAME, and that alone
refused() {
	status "$1: $2: apply tells" 1 cmd "$1" apply
	is "$1: $2: what it refuses" "$said" "oc-nsrun: project $3: $4"
}
changed="was changed on the host since the overlay was begun"

conflicts() {
	fill "$1"
	on "$1" 'echo over >f; echo over >m; echo n >n; rm g; rm -r old; : >d/new
		mkdir shut; : >shut/s; chmod 500 shut'
	as "$1" sh -c 'echo host >f; echo n2 >n; echo host >g'
	is "$1: diff marks what was changed" "$(cmd "$1" diff | grep '^.!')" \
		"M! 100644 100644 f
D! 100644 000000 g
M! 100644 100644 n"
	status "$1: apply refuses what was changed" 1 cmd "$1" apply
	is "$1: and says what" "$said" "oc-nsrun: project f: $changed
oc-nsrun: project g: $changed
oc-nsrun: project n: $changed"
	is "$1: the host's stays" "$(cd "$P" && cat f g n)" "host
host
n2"
	is "$1: the rest is applied" "$(cd "$P" && cat m; ls d; ls -d old 2>&1 |
		grep -c cannot)" "over
a
b
new
sub
1"
	is "$1: a new directory is known by its last mode alone" \
		"$(tr '\0' '\n' <"$(echo "$S"/overlays/*/baseline)" |
		grep ' shut$' | cut -d' ' -f1)" 40500
	is "$1: what was refused is in the overlay still" "$(cmd "$1" diff)" \
		"M! 100644 100644 f
D! 100644 000000 g
M! 100644 100644 n"
	on "$1" 'echo again >m; : >d/new2'
	as "$1" sh -c 'echo over >f; rm g; echo n >n'
	applied "$1" "when the host has become the same"
	is "$1: what was applied can be changed again" "$(cat "$P"/m)" again

	fill "$1"
	on "$1" 'rm -r d; rm -r old'
	as "$1" sh -c 'echo host >d/sub/host'
	refused "$1" "a file in a deleted directory" d "$changed"
	is "$1: all of it stays" "$(cd "$P" && find d | LC_ALL=C sort | tr '\n' ' ')" \
		"d d/a d/b d/sub d/sub/c d/sub/host "
	is "$1: but for the other" "$(ls -d "$P"/old 2>/dev/null)" ""

	fill "$1"
	on "$1" 'echo t >.t; mv .t f'
	as "$1" rm f
	refused "$1" "replaced here, deleted there" f "$changed"
	is "$1: it does not come back" "$(ls "$P"/f 2>/dev/null)" ""

	fill "$1"
	on "$1" 'echo x >d/a'
	as "$1" sh -c 'mv d d2; mkdir d; cp d2/a d/a'
	refused "$1" "a directory put in its place" d/a "$changed"

	fill "$1"
	on "$1" 'echo x >f; rm -r d; echo now >d'
	as "$1" sh -c 'touch -r f ref; echo g >f; touch -r ref f; : >d/late'
	status "$1: the same size and time is a change" 1 cmd "$1" apply
	is "$1: a file for a changed directory is refused" "$said" \
		"oc-nsrun: project d: $changed
oc-nsrun: project f: $changed"
	is "$1: which stays whole" "$(ls "$P"/d | tr '\n' ' ')" "a b late sub "
	is "$1: no name of ours is left" "$(find "$P" -name '.oc-nsrun*')" ""
}

# As nobody but who owns the state could: links, specials, odd attributes.
planted() {
	fill "$1"
	as_maker "$1" mkdir -p "$work/$1/outside"
	echo safe >"$work/$1/outside/file"
	on "$1" ': >begin'
	L=$(layer)
	as_maker "$1" ln -s "$work/$1/outside" "$L"/d
	as_maker "$1" ln -s "$work/$1/outside/file" "$L"/f
	rm -f "$L"/begin
	status "$1: links for a directory and a file" 0 cmd "$1" apply
	is "$1: are made, not followed" "$(readlink "$P"/d "$P"/f)" \
		"$work/$1/outside
$work/$1/outside/file"
	is "$1: nothing outside is touched" "$(cd "$work/$1/outside" &&
		cat file; ls)" "safe
file"

	# The host's directory becomes a link after the command has written.
	fill "$1"
	on "$1" 'echo evil >d/file; echo evil >d/a'
	as "$1" sh -c "mv d away; ln -s '$work/$1/outside' d"
	status "$1: a host's directory became a link" 1 cmd "$1" apply
	is "$1: nothing outside is touched by that" "$(cd "$work/$1/outside" &&
		cat file; ls)" "safe
file"

	fill "$1"
	on "$1" 'mkfifo fifo; echo s >suid; chmod 4755 suid 2>/dev/null
		python3 -c "
import socket
socket.socket(socket.AF_UNIX).bind(\"sock\")" 2>/dev/null || mkfifo sock'
	as_maker "$1" chmod 4755 "$(layer)"/suid
	as_maker "$1" sh -c 'cd "$1" && mkdir -p .git/hooks .claude &&
		echo evil >.git/hooks/pre-commit &&
		echo evil >.claude/settings.json' - "$(layer)"
	status "$1: what no command may make is refused" 1 cmd "$1" apply
	is "$1: all of it" "$(echo "$said" | sed 's/oc-nsrun: project //' |
		cut -d: -f1 | tr '\n' ' ')" \
		".claude .claude/settings.json .git .git/hooks .git/hooks/pre-commit fifo sock suid "
	is "$1: and not there" "$(ls -A "$P" | grep -cE 'git|claude|fifo|sock|suid' |
		tr -d ' ')" 0
	status "$1: discard takes it away" 0 cmd "$1" discard

	who=$1
	python "$1" -c '' 2>/dev/null || { skip "$1: attributes" "no python3"
		return; }
	attr() { python "$who" -c 'import os, sys
os.setxattr(sys.argv[1], sys.argv[2], sys.argv[3].encode())' "$@"; }
	fill "$1"
	on "$1" ': >begin'
	L=$(layer)
	rm -f "$L"/begin
	as_maker "$1" sh -c 'cd "$1" && : >g && echo c >m && mkdir d mv &&
		echo n >d/n' - "$L"
	attr "$L"/g user.overlay.whiteout y
	attr "$L"/m user.overlay.metacopy x
	attr "$L"/d user.overlay.opaque x
	attr "$L"/mv user.overlay.redirect /old
	is "$1: both forms of whiteouts, redirect, metacopy" "$(cmd "$1" diff)" \
		"A  000000 100644 d/n
D  100644 000000 g
M- 100644 100644 m
A- 000000 040755 mv/"
	status "$1: what is elsewhere is refused" 1 cmd "$1" apply
	is "$1: the xattr whiteout deletes" "$(ls "$P"/g 2>/dev/null)" ""
	is "$1: opaque x is not opaque" "$(ls "$P"/d | tr '\n' ' ')" "a b n sub "
	is "$1: metacopy does not empty a file" "$(cat "$P"/m)" m

	fill "$1"
	on "$1" ': >begin'
	L=$(layer)
	python "$1" - "$L" <<'P'
import os, sys
os.chdir(sys.argv[1])
for i in range(300):
    os.mkdir("deep"); os.chdir("deep")
P
	status "$1: a tree without a bottom" 125 cmd "$1" diff
	like "$1: is told" "$said" "*is deeper than 256 directories*"
	status "$1: and can be discarded" 0 cmd "$1" discard
	is "$1: wholly" "$(ls -A "$S"/overlays)" ""

	fill "$1"
	on "$1" 'echo a >attr'
	attr "$(layer)"/attr user.mine yes
	cmd "$1" apply
	is "$1: a file's own attributes come along, the overlay's do not" \
		"$(python3 -c 'import os, sys
print(os.listxattr(sys.argv[1]))' "$P"/attr)" "['user.mine']"
}

# Whose it is: the project's, whoever the command was.
owners() {
	fill "$1"
	on "$1" 'echo x >f; : >n; mkdir e; : >e/x; ln -s x e/l'
	cmd "$1" apply
	is "$1: all is its owner's" "$(cd "$P" && stat -c %u f n e e/x e/l d |
		sort -u)" "$(stat -c %u "$P")"
	[ "$1" = root ] || return 0
	fill root
	chown -R $user_id:$user_id "$P"
	chmod 755 "$work"/root "$work"/root/home
	on root 'echo x >f; : >n; mkdir e; ln -s x e/l'
	cmd root apply
	is "root: of a user's project, too" "$(cd "$P" && stat -c %u f n e e/l |
		sort -u)" $user_id
	chmod 700 "$work"/root/home
	fill root
	is "root: --as keep" "$(as root "$oc" run --state-dir "$S" --project "$P" \
		--as keep --overlay-project -- sh -c 'echo kept >f; id -u')" 0
	cmd root apply
	is "root: --as keep: applied" "$(cat "$P"/f)" kept

	# A disk that is full stops it, with nothing half there; then it goes on.
	fresh root
	mount -t tmpfs -o size=1m none "$P" || return 0
	on root 'echo a >a; dd if=/dev/zero of=big bs=1M count=2 2>/dev/null; echo z >z'
	status "root: a full disk stops apply" 125 cmd root apply
	like "root: and is told" "$said" "*big: *No space left on device"
	is "root: nothing is half there" "$(ls -A "$P")" a
	mount -o remount,size=8m "$P"
	status "root: with room it goes on" 0 cmd root apply
	is "root: to its end" "$(cd "$P" && ls -A; cat z)" "a
big
z
z"
	cd / && umount "$P"
}

# Directories that cannot be written are told, and the rest goes on.
closed() {
	[ "$1" = user ] || return 0
	fill user
	chmod 500 "$P"/d
	on user 'chmod 700 d; echo x >d/a; chmod 500 d; echo y >f'
	like "user: a closed directory is told" "$(cmd user apply 2>&1)" \
		"oc-nsrun: project d/a: create: Permission denied"
	is "user: the rest is applied" "$(cat "$P"/f)" y
	chmod 700 "$P"/d
	fill user
	on user 'mkdir shut; echo s >shut/s; chmod 0 shut/s shut'
	is "user: what the command closed is read" "$(cmd user diff)" \
		"A  000000 040000 shut/
A  000000 100000 shut/s"
	cmd user apply
	is "user: and made so" "$(stat -c %a "$P"/shut)" 0
	fill user
	on user 'mkdir shut half; echo s >shut/s; echo h >half/h; mkfifo ff
		chmod 0 shut; chmod 600 half'
	status "user: closed, with something refused" 1 cmd user apply
	is "user: what is closed by now is no end of diff" "$(cmd user diff)" \
		"A- 000000 010644 ff
M- 040600 040600 half/
M- 040000 040000 shut/"
	status "user: nor of apply" 1 cmd user apply
	chmod 700 "$P"/half "$P"/shut
}

# A directory that only looks like a place for a mask is no place to hide in.
disguised() {
	fill "$1"
	on "$1" 'mkdir s; echo evil >s/evil; echo evil >d/a; chmod 1555 s d'
	is "$1: nothing is hidden by a stub's mode" "$(cmd "$1" diff)" \
		"M  040755 041555 d/
M  100644 100644 d/a
A  000000 041555 s/
A  000000 100644 s/evil"
	fill "$1"
	on "$1" 'echo x >"$(printf "r\342\200\256gpj")"'
	is "$1: no name turns the line round" "$(cmd "$1" diff)" \
		'A  000000 100644 r\342\200\256gpj'
	fill "$1"
	on "$1" 'mkfifo "$(printf "r\342\200\256\302\233\303\244\377")"'
	is "$1: nor one that apply refuses" "$(cmd "$1" apply 2>&1)" \
		"$(printf 'oc-nsrun: project r?????\303\244?: is a socket, a FIFO or a device')"
}

# What cannot be made the owner's is not left behind, nor in the next one's way.
left_links() {
	if [ "$1" != root ] || ! strace -o "$work/trace" true 2>/dev/null; then
		skip "$1: a link that cannot be given" "no root, or no strace"
		return
	fi
	fill "$1"
	on "$1" 'ln -s x link1; ln -s x link2'
	# A leak checker does not work under a tracer.
	status "$1: a link that cannot be given is refused" 1 as "$1" env \
		ASAN_OPTIONS=detect_leaks=0 strace \
		-o "$work/trace" -e trace=fchownat \
		-e inject=fchownat:error=EPERM:when=1 \
		"$oc" apply --state-dir "$S"
	is "$1: ... it alone" "$said" \
		"oc-nsrun: project link1: chown: Operation not permitted"
	is "$1: ... and nothing is left" "$(cd "$P" && echo link* .oc-nsrun*)" \
		"link2 .oc-nsrun*"
	status "$1: ... discard takes it away" 0 cmd "$1" discard
}

for caller in $callers; do
	for part in as_seen lists patches conflicts planted owners closed \
		disguised left_links; do
		$part $caller
	done
done
done_testing
