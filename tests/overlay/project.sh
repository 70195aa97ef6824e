#!/bin/sh
# --overlay-project and --dry-run: the host's project stays as it is, and masks,
# the git view and the scan hold on the overlay as they do on it.
. "${srcdir:?}"/tests/lib.sh
. "$srcdir"/tests/overlay/lib.sh
need_sandbox
need_overlay
oc_git=$(command -v git) || oc_git=

fill() {
	fresh "$1"
	as "$1" sh -c 'echo f >f; mkdir d; echo a >d/a; echo secret >.env
		mkdir keys; echo k >keys/k; echo x >run.sh; chmod 755 run.sh'
}

writes() {
	caller=$1
	fill $caller
	before=$(picture "$P")
	status "$caller: a command writes to an overlay" 0 run $caller \
		--overlay-project -- sh -c 'echo new >f; rm -r d; mkdir n; : >n/x
			echo b >.tmp; mv .tmp run.sh; cat f'
	is "$caller: and sees what it wrote" "$said" new
	is "$caller: the host's project is as it was" "$(picture "$P")" "$before"
	is "$caller: the next launch goes on from it" "$(run $caller \
		--overlay-project -- sh -c 'cat f; ls; ls d 2>&1 | wc -l')" "new
f
keys
n
run.sh
1"
	is "$caller: another name is another overlay" \
		"$(run $caller --overlay-project=other -- cat f)" f
	is "$caller: one that was not written to is not kept" \
		"$(ls "$S"/overlays | grep -c other)" 0
	run $caller --overlay-project=other -- sh -c 'echo o >f'
	is "$caller: both are there" "$(ls "$S"/overlays | wc -l | tr -d ' ')" 2
	is "$caller: they do not see each other" \
		"$(run $caller --overlay-project=other -- cat f)" o
	is "$caller: the host's project is still as it was" "$(picture "$P")" \
		"$before"
	as $caller sh -c 'echo later >f2'
	is "$caller: what is new on the host is seen" \
		"$(run $caller --overlay-project -- cat f2)" later
	is "$caller: the state directory is nobody else's" \
		"$(stat -c %a "$S"/overlays/other)" 700
}

masks() {
	caller=$1
	fill $caller
	status "$caller: a mask holds on an overlay" 1 run $caller \
		--overlay-project --mask .env -- cat .env
	is "$caller: a masked directory is empty" "$(run $caller \
		--overlay-project --mask keys -- ls -A keys)" ""
	fails "$caller: and cannot be written" run $caller \
		--overlay-project --mask keys -- sh -c 'echo y 2>/dev/null >keys/n'
	status "$caller: nor its parent moved" 1 run $caller \
		--overlay-project --mask d/a -- sh -c 'mv d e 2>/dev/null'
	# What an earlier launch made is masked as well.
	run $caller --overlay-project -- sh -c 'rm .env; echo mine >.env; rm -r keys
		mkdir keys; echo own >keys/own; echo t >token'
	for name in .env token; do
		status "$caller: a mask holds on what a launch made: $name" 1 run \
			$caller --overlay-project --mask .env --mask token -- \
			cat $name
	done
	is "$caller: a glob sees what a launch made" "$(run $caller \
		--overlay-project --mask '**/own' -- ls -A keys | grep -c '^own$' |
		tr -d ' ')" 1
	fails "$caller: and hides it" run $caller --overlay-project \
		--mask '**/own' -- cat keys/own
	is "$caller: without the mask it is there" "$(run $caller \
		--overlay-project -- cat keys/own)" own
	# A name that is absent stays so, and leaves nothing in the layer.
	fails "$caller: an absent name cannot be made" run $caller \
		--overlay-project --mask gone -- sh -c 'echo x >gone'
	fails "$caller: nor a control directory" run $caller --overlay-project \
		-- mkdir .claude
	fails "$caller: nor a repository" run $caller --overlay-project -- \
		mkdir .git
	is "$caller: no stub stays in the layer" "$(cd "$(layer)" && ls -A |
		grep -cE 'gone|claude|git' | tr -d ' ')" 0
	is "$caller: nor on the host" "$(ls -A "$P" | grep -cE 'gone|claude|git' |
		tr -d ' ')" 0
}

git_view() {
	caller=$1
	[ -n "$oc_git" ] || { skip "$caller: git" "no git"; return; }
	fresh $caller
	as $caller git init -q . && as $caller sh -c 'echo one >f; git add f
		git -c user.name=n -c user.email=e commit -qm one'
	is "$caller: git status works on an overlay" "$(run $caller \
		--overlay-project -- sh -c 'echo two >f; git status --short')" " M f"
	before=$(cd "$P" && find .git -type f -exec cksum {} + | LC_ALL=C sort)
	fails "$caller: .git cannot be written" run $caller --overlay-project -- \
		sh -c 'echo x >.git/config'
	fails "$caller: no hook can be made" run $caller --overlay-project -- \
		sh -c 'mkdir -p .git/hooks && echo x >.git/hooks/pre-commit'
	is "$caller: the repository is as it was" "$(cd "$P" && find .git -type f \
		-exec cksum {} + | LC_ALL=C sort)" "$before"
	is "$caller: diff does not speak of it" "$(cmd $caller diff)" \
		"M  100644 100644 f"
	status "$caller: git itself gets no overlay" 125 as $caller "$oc" run \
		--state-dir "$S" --profile git --project "$P" --overlay-project -- \
		git status
	like "$caller: and is told why" "$said" \
		"oc-nsrun: option --overlay-project: is not for git itself*"
	fresh $caller
	as $caller mkdir .git
	as $caller sh -c 'echo odd >.git/odd'
	is "$caller: a .git that is no repository is read-only" "$(run $caller \
		--overlay-project -- sh -c 'cat .git/odd; echo x 2>/dev/null \
		>.git/odd || echo refused')" "odd
refused"
}

scan() {
	caller=$1
	fresh $caller
	as $caller sh -c 'echo x >a; ln a b; mkfifo pipe'
	status "$caller: a FIFO of the host's is refused" 125 run $caller \
		--overlay-project -- true
	like "$caller: by its name" "$said" "*pipe (fifo)*"
	is "$caller: or is not there" "$(run $caller --overlay-project \
		--on-hazard shield -- sh -c 'test -p pipe; echo $?')" 1
	as $caller rm pipe
	is "$caller: an alias is no hazard: what is written is a copy" \
		"$(run $caller --overlay-project -- sh -c 'echo y >a; cat a b')" "y
x"
	is "$caller: and the host's is as it was" "$(cat "$P"/a "$P"/b)" "x
x"
	[ $caller = root ] || return 0
	mkdir "$P"/m && mount -t tmpfs none "$P"/m || return 0
	status "root: a mount in the project is refused" 125 run root \
		--overlay-project -- true
	umount "$P"/m
}

dry_run() {
	caller=$1
	fill $caller
	before=$(picture "$P")
	out=$(run $caller --dry-run -- sh -c 'echo new >f; rm -r d; echo said
		exit 3' 2>"$work/$caller/list")
	is "$caller: --dry-run: the status is the command's" "$?" 3
	is "$caller: its output, too" "$out" said
	is "$caller: what it wrote is listed" "$(cat "$work/$caller/list")" \
		"D  040755 000000 d/
M  100644 100644 f"
	is "$caller: the host's project is as it was" "$(picture "$P")" "$before"
	is "$caller: nothing is kept" "$(ls -A "$S"/overlays)" ""
	# What was killed is swept by the next.
	as $caller "$oc" run --state-dir "$S" --project "$P" --dry-run -- \
		sh -c 'echo x >f; sleep 60' 2>/dev/null &
	shell=$!
	for _ in $(seq 200); do
		[ -n "$(ls -A "$S"/overlays/.*/layer/upper 2>/dev/null)" ] && break
		sleep 0.1
	done
	pid=$(cat /proc/$shell/task/$shell/children 2>/dev/null)
	kill -9 ${pid:-$shell}
	wait $shell 2>/dev/null
	swept() {
		run $caller --dry-run -- true
		[ -z "$(ls -A "$S"/overlays)" ]
	}
	eventually "$caller: one that was killed is swept by the next" swept
}

budget() {
	caller=$1
	fill $caller
	for launch in first second; do
		status "$caller: a budget of writes holds on an overlay: $launch" \
			137 run $caller --overlay-project --max-write 1M -- sh -c \
			'dd if=/dev/zero of=big bs=1M count=20 2>/dev/null; sleep 60'
		like "$caller: and is told: $launch" "$said" "*is used up*"
		[ $launch = second ] || run $caller --overlay-project -- sh -c \
			'rm big; echo x >f'
	done
	ok "$caller: and what was there before does not count" run $caller \
		--overlay-project --max-write 1M -- sh -c 'echo y >f'
}

one_at_a_time() {
	caller=$1
	fill $caller
	as $caller "$oc" run --state-dir "$S" --project "$P" --overlay-project \
		-- sh -c 'echo x >f; sleep 60' &
	shell=$!
	for _ in $(seq 200); do
		[ -n "$(ls -A "$(layer)" 2>/dev/null)" ] && break
		sleep 0.1
	done
	status "$caller: a second launch on it is refused" 125 run $caller \
		--overlay-project -- true
	like "$caller: and told what to do" "$said" \
		"*is in use: another name makes another overlay"
	for word in diff apply discard; do
		status "$caller: $word meanwhile" 125 cmd $caller $word
	done
	ok "$caller: another name goes" run $caller --overlay-project=two -- true
	pid=$(cat /proc/$shell/task/$shell/children 2>/dev/null)
	kill -9 ${pid:-$shell}
	wait $shell 2>/dev/null
	eventually "$caller: the lock goes with the sandbox" cmd $caller apply
	is "$caller: and what was written is there" "$(cat "$P"/f)" x
}

bad_input() {
	caller=$1
	fill $caller
	bad() {
		case_=$1 line=$2; shift 2
		status "$caller: $case_" 125 "$@"
		like "$caller: $case_: the line" "$said" "oc-nsrun: $line"
	}
	bad "no project" "option --overlay-project: needs --project" as $caller \
		"$oc" run --state-dir "$S" --overlay-project -- true
	bad "--dry-run without a project" "option --dry-run: needs --project" \
		as $caller "$oc" run --state-dir "$S" --dry-run -- true
	bad "an empty name" "option --overlay-project=: wants a value" run \
		$caller --overlay-project= -- true
	bad "a name that is a path" "option --overlay-project ../x: is no name*" \
		run $caller --overlay-project=../x -- true
	bad "both" "option --dry-run: is an overlay of its own*" run $caller \
		--dry-run --overlay-project -- true
	bad "both, explained" "option --dry-run: is an overlay of its own*" as \
		$caller "$oc" explain --project "$P" --dry-run \
		--overlay-project -- true
	bad "--dry-run without a project, explained" \
		"option --dry-run: needs --project" as $caller "$oc" explain \
		--dry-run -- true
	bad "a value for --dry-run" "option --dry-run=x: takes no value" run \
		$caller --dry-run=x -- true
	bad "a project that is broad" "project /*: *" as $caller "$oc" run \
		--state-dir "$S" --project / --overlay-project -- true
	as $caller mkdir build
	bad "a writable root in the project" \
		"option --overlay-project*: cannot hold or be in another*" \
		run $caller --rw "$P"/build --overlay-project -- true
	bad "the state directory in a root" \
		"root *: holds the state directory*" as $caller "$oc" run \
		--state-dir "$P"/build/state --project "$P" --overlay-project -- true
	rm -rf "$P"/build
	for word in diff apply discard; do
		bad "$word: no overlay" "state $P: has no such overlay: nothing was written*" cmd $caller \
			$word
		bad "$word: no such name" "state $P -> nix: has no such overlay: nothing was*" \
			cmd $caller $word nix
		bad "$word: a bad name" "option ..: is no name*" cmd $caller $word ..
		bad "$word: two names" "option $word: takes the name*" cmd $caller \
			$word a b
		bad "$word: an option" "option --no: is no option*" cmd $caller \
			$word --no
		bad "$word: no value" "option --project: wants a value" cmd $caller \
			$word --project
		bad "$word: no project" "project /nix/no: realpath: No such*" cmd \
			$caller $word --project /nix/no
	done
	bad "apply has no --text" "option --text: is no option*" cmd $caller \
		apply --text
	bad "--text with --json" "option --text: goes without --json" cmd $caller \
		diff --text --json
	run $caller --overlay-project=mine -- sh -c 'echo x >f'
	as $caller mkdir other
	bad "a name of another project" \
		"state mine -> $P: is the overlay of another project" \
		as $caller "$oc" diff --state-dir "$S" --project "$P"/other mine
}

# What is kept is damaged: nothing is guessed, and it can be discarded.
damaged() {
	caller=$1
	for damage in ': >baseline' 'rm baseline' 'printf "x 1 2.3 f\\0" >baseline' \
		'head -c -3 baseline >b; mv b baseline'; do
		fill $caller
		run $caller --overlay-project -- sh -c 'echo new >f; echo n >d/n'
		as_maker $caller sh -c "cd '$S'/overlays/* && $damage"
		for word in diff apply; do
			status "$caller: $damage: $word" 125 cmd $caller $word
			like "$caller: $damage: $word: the line" "$said" \
				"oc-nsrun: state baseline: read: *"
		done
		is "$caller: $damage: nothing was applied" "$(cat "$P"/f)" f
		status "$caller: $damage: discard" 0 cmd $caller discard
		is "$caller: $damage: nothing is left" "$(ls -A "$S"/overlays)" ""
	done
	fill $caller
	run $caller --overlay-project -- sh -c 'echo new >f'
	as_maker $caller sh -c "cd '$S'/overlays/*/layer && mv upper away &&
		ln -s / upper"
	status "$caller: a link for the layer" 125 cmd $caller diff
	status "$caller: a link for the layer, launched" 125 run $caller \
		--overlay-project -- true
	fill $caller
	run $caller --overlay-project -- sh -c 'echo new >f'
	as_maker $caller sh -c "cd '$S'/overlays/* && mkdir -p '$P'/keep &&
		printf '.oc-nsrun-apply-../../f .' >pending"
	status "$caller: a note that leads elsewhere" 0 cmd $caller apply
	as_maker $caller touch "$P/keep/.oc-nsrun-apply-mine"
	run $caller --overlay-project -- sh -c 'echo newer >f'
	as_maker $caller sh -c "cd '$S'/overlays/* &&
		printf '.oc-nsrun-apply-mine ../project/keep' >pending"
	status "$caller: a note that leads out" 0 cmd $caller apply
	is "$caller: is not followed" "$(cat "$P"/f; ls -A "$P"/keep)" "newer
.oc-nsrun-apply-mine"
}

explains() {
	caller=$1
	fill $caller
	like "$caller: explain shows it" "$(as $caller "$oc" explain --state-dir \
		"$S" --project "$P" --overlay-project=x -- true)" \
		"*rw*over $P, written to $S/overlays/x/layer*"
	like "$caller: explain of the project's own" "$(as $caller "$oc" explain \
		--state-dir "$S" --project "$P" --overlay-project -- true)" \
		"*rw*over $P, written to $S/overlays/project-????????????????/layer*"
	like "$caller: explain of --dry-run" "$(as $caller "$oc" explain \
		--state-dir "$S" --project "$P" --dry-run -- true)" \
		"*rw*over $P, thrown away*"
	is "$caller: and makes nothing" "$(ls -A "$S")" ""
}

for caller in $callers; do
	for part in writes masks git_view scan budget dry_run one_at_a_time bad_input \
		damaged explains; do
		$part $caller
	done
done
done_testing
