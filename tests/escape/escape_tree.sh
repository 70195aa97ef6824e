#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Trees that are prepared before a launch, swapped while it is made, or worked on
# from elsewhere while it runs. Each with what happens where nothing is done.
#
# Of the same groups, elsewhere: FS-07 and RACE-09, the scan's races and bounds,
# in tests/scan; FS-17 in escape_files.sh; RACE-06 in tests/test_config.sh;
# RACE-07, 08 and 11 in tests/test_temp.sh and tests/session; HAND-05 in
# tests/test_config.sh. Not here: what no path of ours can meet (RACE-02, 03 and
# 05: no mask, terminal or device of the host's is bound), what a mended kernel
# cannot show (FS-11), what only the host decides (FS-04, GIT-09, HAND-03, 06),
# and FS-22, which wants a file system that folds case.
. "$srcdir"/tests/lib.sh
. "$srcdir"/tests/escape/escape.sh
cp "$top_builddir"/tests/session/host "$work"/bin/host || exit 99
rounds=10000

# run [OPTION...] -- CMD: in the project
run() {
	# shellcheck disable=SC2086
	as "$who" "$oc" run --stdin null $as_option --project "$project" "$@"
}
host() { as "$who" sh -ec "cd $project; out=$dir/outside; $1"; }

# refused ID WHAT SETUP NAMES UNDO: a launch that runs nothing; undone, it runs
refused() {
	host "$3" || fail "$mode $1: $2" "is not set up"
	before=$(find "$dir/outside" -printf '%P %i %T@ %s\n' | sort; cat "$dir/outside/secret")
	status "$mode $1: $2" 125 run -- touch ran
	like "$mode $1: ... is named" "$said" "$4"
	ok "$mode $1: ... and nothing ran" test ! -e "$project/ran"
	is "$mode $1: ... nor was anything outside touched" \
		"$(find "$dir/outside" -printf '%P %i %T@ %s\n' | sort; cat "$dir/outside/secret")" "$before"
	host "$5"
	status "$mode $1: ... and without it it runs" 0 run -- true
}

prepared() {
	refused FS-06 "a hard link from outside" 'ln $out/secret alias' "*alias (alias)*" 'rm alias'
	refused FS-13 "a FIFO that is left" 'mkfifo left' "*left (fifo)*" 'rm left'
	ok "$mode FS-13: ... and covered it can go on" run --on-hazard shield -- true
	# What the command itself leaves does not stop the next launch for good.
	run -- sh -c 'mkfifo d-fifo; mkdir deep; mkfifo deep/x' 2>/dev/null
	status "$mode FS-13: what a command left is met" 125 run -- true
	status "$mode FS-13: ... and the next one can remove it" 0 run --on-hazard shield -- sh -c \
		'timeout 5 cat d-fifo deep/x; test ! -p d-fifo'
	rm -rf "$project/d-fifo" "$project/deep"
	if [ "$mode" = user ]; then
		refused RACE-10 "a directory that cannot be read" 'mkdir closed; chmod 0 closed' "*closed: *Permission denied*" 'rmdir closed'
	fi
	# Globs are masks, or are refused; they are never words without meaning.
	host 'mkdir -p a/b; echo secret >.env; echo secret >a/b/.env; echo secret >a/k.pem'
	is "$mode FS-24: patterns" "$(run --mask '**/.env' --mask 'a/*.pem' -- sh -c 'cat .env a/b/.env a/k.pem' 2>/dev/null)" ""
	is "$mode FS-24: ... and without them" "$(run -- sh -c 'cat .env a/b/.env a/k.pem')" "secret
secret
secret"
	host 'rm -r a .env'
	is "$mode MNT-10: a file that is absent is not made" "$(run --mask .env -- sh -c '
		echo x >.env; ln /dev/null .env; mv probe .env; ln -s probe .env; mkdir .env' 2>/dev/null; ls -A "$project" | grep -cx .env)" 0
	run -- sh -c 'echo x >.env'
	ok "$mode MNT-10: ... and without a mask it is" test -e "$project/.env"
	rm -f "$project/.env"
	# A copy of the project with another name, and swapped with what is guarded.
	run -- sh -c 'cp -r .claude c2 && echo evil >c2/x && mv -T --exchange .claude c2; mv .claude c3; mv c2 .claude' 2>/dev/null
	is "$mode FS-23: a guarded directory is not swapped" "$(ls -A "$project/.claude")" ""
	host 'mkdir c4; echo mine >c4/x; mv .claude c5; mv c4 .claude'
	ok "$mode FS-23: ... which the host can" test -e "$project/.claude/x"
	host 'rm -r .claude; mv c5 .claude; rm -rf c2'
	# Late links: looked at anew by each launch.
	run -- sh -c 'mkdir real; echo secret >real/f'
	host 'ln -s real m'
	is "$mode MNT-16: a mask that turned into a link" "$(run --mask m -- sh -c 'cat m/f real/f' 2>/dev/null)" ""
	is "$mode MNT-16: ... is nothing without one" "$(run -- cat m/f)" secret
	host 'rm -r m real'
}

# swapped A B CMD: CMD, a function, with the two exchanged all the time
swapped() {
	rm -f "$dir/log/swap.pid" "$dir/log/swap.n"
	as "$who" "$aide" swap "$1" "$2" "$dir/log/swap.pid" "$dir/log/swap.n" &
	job=$!
	for _ in $(seq 100); do [ -s "$dir/log/swap.pid" ] && break; sleep 0.05; done
	swapper=$(cat "$dir/log/swap.pid")
	shift 2
	"$@"
	kill -TERM "$swapper"
	wait "$job"
	n_swaps=$(cat "$dir/log/swap.n" 2>/dev/null || echo 0)
}

launches() {
	# Each may wait five seconds for the tree to rest.
	wins=0 started=0 refused=0 end=$(($(date +%s) + 30))
	while [ $((started + refused)) -lt 60 ] && [ "$(date +%s)" -lt $end ]; do
		said=$(run --on-hazard shield --mask sub/secret --mask sub/absent -- sh -c \
			'echo ran; cat sub/secret sub.evil/secret; echo x >sub/absent; ls -l sub.evil/' 2>/dev/null)
		case $said in *secret\ of*) wins=$((wins + 1)) ;; esac
		case $said in ran*) started=$((started + 1)) ;; *) refused=$((refused + 1)) ;; esac
	done
}

script() { as "$who" "$work"/bin/host "$dir/log/script" </dev/null >"$dir/log/said" 2>&1; }

races() {
	host 'mkdir sub; echo "secret of the project" >sub/secret; ln -s $out sub.evil'
	kept=$(ls -A "$dir/outside")
	swapped "$project/sub" "$project/sub.evil" launches
	ok "$mode RACE-01: a swapper: $n_swaps swaps, $started launches and $refused refused" \
		test "$n_swaps" -ge $rounds -a $((started + refused)) -ge 6
	is "$mode RACE-01: ... that it won" $wins 0
	is "$mode RACE-01: ... and made nothing outside" "$(ls -A "$dir/outside")" "$kept"
	like "$mode RACE-01: which it could have, unmasked" "$(run -- cat sub/secret sub.evil/secret 2>/dev/null)" "*secret of*"
	host 'rm -r sub sub.evil'

	# A session's project, in a directory that is another every other moment.
	as "$who" sh -c "rm -rf $home/s $home/e; mkdir -p $home/s/p $home/e/p"
	{
		echo "register s project=$home/s/p"
		[ "$mode" = keep ] && { : >"$dir/log/script"; echo "register s project=$home/s/p as=keep"; }
		echo "try 200 s -- echo in >>mark"
	} | tail -n 2 >"$dir/log/script"
	swapped "$home/s" "$home/e" script
	like "$mode FS-18: a swapped ancestor, $n_swaps swaps: $(tail -n 1 "$dir/log/said")" "$(cat "$dir/log/said")" "*register: ok*tried: * of 200"
	ok "$mode FS-18: ... enough of them" test "$n_swaps" -ge $rounds
	# It may have been registered as either; it was never the other.
	is "$mode FS-18: ... only one was ever written" "$(cat "$home/s/p/mark" "$home/e/p/mark" 2>/dev/null | wc -l)" \
		"$(sed -n 's/^tried: \([0-9]*\) .*/\1/p' "$dir/log/said")"
	ok "$mode FS-18: ... and not the other" test ! -e "$home/s/p/mark" -o ! -e "$home/e/p/mark"
}

# Two at once, and the host beside them.
peers() {
	host 'mkdir -p a/b; echo secret >a/b/secret'
	run --mask a/b/secret -- sh -c ': >started; while [ ! -e go ]; do sleep 0.05; done; cat a/b/secret' >"$dir/log/one" 2>&1 &
	job=$!
	eventually "$mode RACE-12: one runs" test -e "$project/started"
	like "$mode RACE-12: a peer with the same mask cannot move it" \
		"$(run --mask a/b/secret -- sh -c 'mv a a2; mv a/b b; mv a/b/secret s; rm a/b/secret; ln a/b/secret l' 2>&1)" "*Device or resource busy*"
	host ': >go'
	wait "$job"
	unlike "$mode RACE-12: ... nor can it be seen then" "$(cat "$dir/log/one")" "*secret
*"
	like "$mode RACE-12: ... which it could without" "$(run -- sh -c 'mv a a2 && cat a2/b/secret; mv a2 a' 2>&1)" "*secret*"
	# An editor of the host's saves what is masked: it stays masked.
	rm -f "$project/started" "$project/go"
	run --mask a/b -- sh -c ': >started; while [ ! -e go ]; do sleep 0.05; done; cat a/b/secret' >"$dir/log/one" 2>&1 &
	job=$!
	eventually "$mode MNT-14: one runs" test -e "$project/started"
	host 'echo "secret again" >a/b/x; mv a/b/x a/b/secret; : >go'
	wait "$job"
	unlike "$mode MNT-14: a file that the host saves in a masked directory" "$(cat "$dir/log/one")" "*secret again*"
	# What is removed below a mask, and made again.
	rm -f "$project/started" "$project/go"
	run --mask .env -- sh -c ': >started; while [ ! -e go ]; do sleep 0.05; done; echo evil >.env' >"$dir/log/one" 2>&1 &
	job=$!
	eventually "$mode MNT-13: one runs" test -e "$project/started"
	host 'rm -f .env; : >go'
	wait "$job"
	ok "$mode MNT-13: what the host removes is not made then" sh -c "! grep -qs evil $project/.env"
	ok "$mode MNT-13: ... at that name" test ! -e "$project/.env"
	rm -rf "$project/a" "$project/started" "$project/go" "$project"/.env*
	# Nothing is left when it is killed.
	as "$who" sh -c 'echo $$ >'"$dir"'/log/pid; exec "$@"' sh "$oc" run --stdin null $as_option --project "$project" \
		--mask absent -- sh -c ': >started; sleep 60' &
	job=$!
	eventually "$mode MNT-17: one runs" test -e "$project/started"
	ok "$mode MNT-17: its mount point is there" sh -c "ls -A $project | grep -qx absent"
	kill -KILL "$(cat "$dir/log/pid")"
	wait "$job"
	eventually "$mode MNT-17: killed, it is gone" sh -c "! ls -A $project | grep -qx absent"
	rm -f "$project/started"
}

bounds() {
	host 'mkdir many; cd many; seq 2000 | sed s/^/f/ | xargs touch'
	is "$mode MNT-19: 2,000 masks" "$(run --mask 'many/f*' -- sh -c 'cat many/f1 many/f2000 2>&1 | grep -c "No such file"')" 2
	is "$mode MNT-19: ... none without" "$(run -- sh -c 'cat many/f1 many/f2000 | wc -c')" 0
	host 'rm -r many; d=.; for i in $(seq 200); do d=$d/d; done; mkdir -p $d; echo secret >$d/f'
	is "$mode MNT-19: 200 levels down" "$(run --mask '**/f' -- sh -c 'find d -name f -type f | xargs -r cat' 2>/dev/null)" ""
	is "$mode MNT-19: ... which is there" "$(run -- sh -c 'find d -name f -type f | xargs -r cat')" secret
	rm -rf "$project/d"
	# Programs run where they were made, and gain nothing.
	for place in /tmp /run /dev/shm /var/tmp; do
		got=$(run -- sh -c "cp /bin/true $place/x 2>/dev/null && chmod 4755 $place/x 2>/dev/null; cp /bin/true $place/y && $place/y && echo runs
			awk '\$5 == \"$place\" { print \$6 }' /proc/self/mountinfo" 2>&1)
		case $got in
		*nosuid*nodev* | *noexec*) pass "$mode MNT-20: $place: $(echo $got)" ;;
		*) fail "$mode MNT-20: $place" "$got" ;;
		esac
	done
}

inherited() {
	prefix="env PLANTED_TOKEN=$head$tail HTTPS_PROXY=$head$tail"
	unlike "$mode ENV-02: no process shows the host's environment" "$(launch sandbox sh -c \
		'cat /proc/*/environ /proc/*/cmdline /proc/1/auxv | tr "\0" "\n"' 2>/dev/null)" "*$head$tail*"
	like "$mode ENV-02: which outside it does" "$(launch outside sh -c 'tr "\0" "\n" </proc/self/environ')" "*$head$tail*"
	prefix=
	# The program itself, started by a host that was poisoned.
	for poison in LD_PRELOAD=/nonexistent.so LD_LIBRARY_PATH=/nonexistent GLIBC_TUNABLES=glibc.malloc.check=9 \
	    LOCPATH=/nonexistent GCONV_PATH=/nonexistent TMPDIR=/nonexistent BASH_ENV=/nonexistent IFS=/; do
		is "$mode ENV-04: started with ${poison%%=*}" "$(as "$who" env "$poison" "$oc" run --stdin null $as_option \
			--project "$project" -- sh -c "echo \${${poison%%=*}-none}" 2>/dev/null | sed 's,^/tmp$,none,; s/^ *$/none/')" none
	done
}

for mode in $modes; do
	stage "$mode"
	rm -rf "$project/.git"
	prepared
	races
	peers
	bounds
	inherited
done
finish
