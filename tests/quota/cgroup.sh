#!/bin/sh
# A cgroup of its own for each launch: made where it is delegated, removed
# whatever happens, and its limits met for real where there are controllers
# (any cgroup2 will do for the rest). Root makes the delegated directory.
. "${srcdir:?}"/tests/lib.sh
need_sandbox
skip_all() { echo "1..0 # SKIP $1"; exit 0; }

[ "$(id -u)" = 0 ] || skip_all "only root can delegate a cgroup to this test"
top=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
[ "$top" ] || skip_all "no cgroup2 file system is mounted"
base=$top/nsrun-test.$$
mkdir "$base" 2>/dev/null || skip_all "$top cannot be written"
# The last processes leave when they are reaped.
clean() {
	for dir in "$base"/*/ "$base"/; do
		[ -d "$dir" ] || continue
		for _ in $(seq 50); do rmdir "$dir" 2>/dev/null && break; sleep 0.1; done
	done
	[ -z "$switched" ] || echo $switched >"$top"/cgroup.subtree_control
	[ -z "${loop:-}" ] || { umount "$work"/disk 2>/dev/null; losetup -d "$loop"; }
	cleanup
}
trap clean EXIT
given=$(cat "$top"/cgroup.subtree_control) switched=
for controller in memory pids cpu io; do
	case " $given " in *" $controller "*) continue ;; esac
	echo "+$controller" >"$top/cgroup.subtree_control" &&
		switched="$switched -$controller"
done 2>/dev/null
have=$(cat "$base"/cgroup.controllers)
mkdir "$base"/own
# has CONTROLLER
has() { case " $have " in *" $1 "*) true ;; *) false ;; esac; }
scopes() { find "$base" -mindepth 1 -maxdepth 1 -name 'oc-nsrun.*'; }

for caller in $callers; do
	records=$work/$caller/records
	touch "$records"; chmod 666 "$records"
	[ $caller = user ] && chown $user_id "$base" "$base"/cgroup.* "$base"/own "$base"/own/cgroup.*
	# run OPTION... -- COMMAND...: in the delegated cgroup; rc and the last record
	run() {
		(
			echo 0 >"$base"/own/cgroup.procs || exit 99
			as "$caller" sh -c 'f=$1; shift; exec "$@" 8>"$f"' sh "$records" \
				"$oc" run --stdin null --project . --status-fd 8 --timeout 120 "$@" >"$work/out" 2>&1
		)
		rc=$?
		last=$(tail -n 1 "$records")
	}
	field() { printf '%s\n' "$last" | sed -n "s/.*\"$1\": \"\{0,1\}\([^,}\"]*\).*/\1/p"; }
	none() { is "$caller: $1: nothing is left" "$(scopes)" ""; }

	run --cgroup "$base" -- sh -c 'cat /proc/self/cgroup; exit 7'
	is "$caller: the command runs in one" "$rc" 7
	like "$caller: which the record names" "$(cat "$records")" '*"event": "started"*"cgroup": "oc-nsrun.*'
	is "$caller: and is the root of its own view" "$(grep '^0:' "$work/out")" "0::/"
	none "a command"
	# As a service manager marks what it gives away; to users, its owner does.
	mark() { [ $caller = user ] || /usr/bin/python3 -c 'import os, sys; os.setxattr(sys.argv[1], "user.delegate", b"1")' "$base" 2>/dev/null; }
	# The top of a container is its root's.
	if [ $caller = root ] && [ "$(stat -L -c %i /proc/self/ns/cgroup)" = 4026531835 ]; then
		run --cgroup require -- true
		case $rc:$(cat "$work/out") in
		125:*"cgroup $base/own: is not delegated to us, nor is anything above it"*) pass "$caller: what is not delegated is not taken" ;;
		*) fail "$caller: what is not delegated is not taken" "rc $rc: $(cat "$work/out")" ;;
		esac
	fi
	if mark; then
		run --cgroup require -- true
		is "$caller: what is delegated is found" "$rc $(cat "$work/out")" "0 "
		none "require"
		mkdir "$base"/init.scope
		run --cgroup require -- true
		is "$caller: a service manager's own" "$rc" 125
		like "$caller: is left to it" "$(cat "$work/out")" "*cgroup $base: is delegated to a service manager, not to us*"
		run -- true
		is "$caller: and no error for who does not ask" "$rc" 0
		rmdir "$base"/init.scope
	else
		skip "$caller: what is delegated is found" "no extended attributes on cgroup2 here"
	fi
	run --cgroup "$base" -- sh -c 'for i in 1 2 3; do setsid sleep 100 & done; sleep 0.2'
	is "$caller: what is left behind ends" "$rc $(field killed)" "0 3"
	none "left processes"
	run --cgroup "$base" -- /no/such/command
	is "$caller: a command that is not there" "$rc" 127
	none "no command"
	run --cgroup "$base" --timeout 300ms -- sleep 100
	is "$caller: a deadline" "$rc" 124
	none "a deadline"
	run --cgroup "$base"/none -- true
	is "$caller: one that is not there" "$rc" 125
	like "$caller: is named" "$(cat "$work/out")" "*cgroup $base/none: open: No such file*"
	if ! has memory; then
		run --cgroup "$base" --limit memory=100M -- true
		is "$caller: a limit without its controller" "$rc" 125
		like "$caller: is named" "$(cat "$work/out")" "*cgroup $base -> memory: is not given to us*"
		none "no controller"
	fi
	pids=
	for i in $(seq 12); do
		( echo 0 >"$base"/own/cgroup.procs; as $caller "$oc" run --stdin null --project . --cgroup "$base" -- sh -c 'exit 5' >/dev/null 2>&1 ) &
		pids="$pids $!"
	done
	bad=0
	for pid in $pids; do wait "$pid"; [ $? = 5 ] || bad=$((bad + 1)); done
	is "$caller: twelve at once" "$bad" 0
	none "twelve at once"

	# The supervisor is killed: its sandbox dies, the next launch clears up.
	( echo 0 >"$base"/own/cgroup.procs; as $caller "$oc" run --stdin null --project . --cgroup "$base" -- sh -c ': >ready; sleep 100' >/dev/null 2>&1 ) &
	shell=$!
	eventually "$caller: it runs" test -e "$(project $caller)/ready"
	scope=$(scopes)
	helper=${scope##*oc-nsrun.} helper=${helper%-*}
	is "$caller: and has a scope, named after it" "$(tr '\0' ' ' <"/proc/$helper/cmdline" | cut -d' ' -f1,2)" "$oc run"
	run --cgroup "$base" -- true
	is "$caller: another launch leaves it alone" "$rc $(scopes)" "0 $scope"
	kill -9 "$helper"; wait $shell 2>/dev/null
	run --cgroup "$base" -- true
	is "$caller: a launch after SIGKILL" "$rc" 0
	none "SIGKILL"
	rm -f "$(project $caller)/ready"

	# Limits, met.
	if has memory; then
		run --cgroup "$base" --limit memory=60M -- sh -c 'exec tail /dev/zero'
		is "$caller: memory" "$rc $(field reason) $(field limit)" "137 oom memory"
		like "$caller: memory: the peak" "$(field memory_peak_bytes)" "62914560"
		none "memory"
		run --cgroup "$base" --limit memory=60M -- sh -c '(exec tail /dev/zero) & wait; exit 0'
		is "$caller: memory: of any process" "$rc $(field reason)" "137 oom"
		run --cgroup "$base" --limit memory=60M -- sh -c 'exec head -c 200M /dev/zero >/dev/shm/x'
		is "$caller: memory: what is in its own file system" "$rc $(field reason)" "137 oom"
		run --cgroup "$base" --limit memory=60M -- sh -c 'for i in 1 2 3 4 5 6 7 8; do head -c 15M /dev/zero | (exec tail -c 15M | (sleep 3; cat) >/dev/null) & done; wait'
		is "$caller: memory: the sum of all" "$rc $(field reason)" "137 oom"
		run --cgroup "$base" --limit memory=200M -- sh -c 'head -c 10M /dev/zero >/dev/shm/x; exit 3'
		is "$caller: memory: what suffices" "$rc $(field reason)" "3 exit"
		peak=$(field memory_peak_bytes)
		[ "${peak:-0}" -gt 10000000 ] && pass "$caller: memory: its peak" || fail "$caller: memory: its peak" "$last"
	else
		skip "$caller: memory" "no memory controller in $top"
	fi
	if has pids; then
		run --cgroup "$base" --limit processes=20 -- sh -c 'for i in $(seq 60); do sleep 100 & done; wait'
		is "$caller: processes" "$rc $(field reason) $(field limit)" "137 limit processes"
		none "processes"
		run --cgroup "$base" --limit processes=30 -- sh -c 'b() { b | b & }; b; sleep 100'
		is "$caller: a fork bomb" "$rc $(field reason) $(field limit)" "137 limit processes"
		none "a fork bomb"
		if [ $caller = root ]; then
			run --as keep --cgroup "$base" --limit processes=20 -- sh -c 'for i in $(seq 60); do sleep 100 & done; wait'
			is "$caller: kept, too" "$rc $(field reason) $(field limit)" "137 limit processes"
			like "$caller: and nothing is unenforced" "$(cat "$records")" '*"unenforced": \[\]*'
		fi
	else
		skip "$caller: processes" "no pids controller in $top"
	fi
	if has cpu; then
		run --cgroup "$base" --limit cpus=0.2 --timeout 5s -- sh -c 'while :; do :; done'
		cpu=$(field cpu_ms) wall=$(field wall_ms)
		[ "$rc" = 124 ] && [ "$((cpu * 100 / wall))" -le 30 ] && pass "$caller: a fifth of a processor" ||
			fail "$caller: a fifth of a processor" "rc $rc: $cpu of $wall ms"
	else
		skip "$caller: cpus" "no cpu controller in $top"
	fi
done

# Alone in what is delegated, as under systemd-run: it steps aside, and back.
alone=$base/alone
for caller in $callers; do
	has memory || { skip "$caller: alone" "no memory controller in $top"; continue; }
	mkdir "$alone"
	[ $caller = user ] && chown $user_id "$alone" "$alone"/cgroup.*
	(
		cd "$(project $caller)" && exec sh -c 'echo $$ >"$1"/cgroup.procs || exit 99; shift; exec "$@"' sh "$alone" \
			$([ $caller = root ] || echo setpriv --reuid $user_id --regid $user_id --clear-groups --inh-caps=-all) \
			env -i PATH="$PATH" HOME="$(home $caller)" "$oc" run --stdin null --project . --cgroup "$alone" --limit memory=60M --max-write 1G -- \
			sh -c 'head -c 70M /dev/zero >/dev/shm/x'
	) >"$work/out" 2>&1
	is "$caller: alone: its limits hold" "$?" 137
	like "$caller: alone: and are told" "$(cat "$work/out")" "*limit memory 60M: is used up*"
	is "$caller: alone: no directory is left" "$(find "$alone" -mindepth 1 -type d)" ""
	is "$caller: alone: no controller stays on" "$(cat "$alone"/cgroup.subtree_control)" ""
	# With others in it, it cannot.
	sleep 100 & sleeper=$!
	echo $sleeper >"$alone"/cgroup.procs
	as "$caller" "$oc" run --stdin null --project . --cgroup "$alone" --limit memory=60M -- true >"$work/out" 2>&1
	is "$caller: not alone: refused" "$?" 125
	like "$caller: not alone: the reason" "$(cat "$work/out")" "*cgroup $alone: has processes of its own*hint:*"
	is "$caller: not alone: nothing is left" "$(find "$alone" -mindepth 1 -type d)" ""
	kill $sleeper; wait $sleeper 2>/dev/null
	for _ in $(seq 50); do rmdir "$alone" 2>/dev/null && break; sleep 0.1; done
done

# A disk of its own, so that only this test uses it.
if has io && command -v mkfs.ext4 >/dev/null && (modprobe loop; true) 2>/dev/null &&
    head -c 48M /dev/zero >"$work"/image && mkfs.ext4 -q -F "$work"/image >/dev/null 2>&1 &&
    loop=$(losetup -f --show "$work"/image 2>/dev/null); then
	mkdir "$work"/disk
	mount "$loop" "$work"/disk && mkdir "$work"/disk/p && chown $user_id:$user_id "$work"/disk/p
	for caller in $callers; do
		for how in write read; do
			dd="dd if=/dev/zero of=x bs=64K count=64 oflag=direct"
			[ $how = write ] || dd="dd if=x of=/dev/null bs=64K iflag=direct"
			run --project "$work"/disk/p --cgroup "$base" --limit io-$how=1M -- sh -c "$dd"
			slow=$(field wall_ms)
			# Four megabytes, one a second.
			[ "$rc" = 0 ] && [ "$slow" -ge 2500 ] && pass "$caller: io-$how" || fail "$caller: io-$how" "rc $rc: $slow ms: $(cat "$work/out")"
		done
	done
	umount "$work"/disk; losetup -d "$loop"; loop=
else
	loop=
	skip "io" "no io controller in $top, or no loop device and mkfs.ext4"
fi

done_testing
