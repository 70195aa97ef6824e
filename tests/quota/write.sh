#!/bin/sh
# The budget of writes: bytes and names on the host, whatever hides them; what
# is met ends the launch with the limit's name, and nothing is left running.
. "${srcdir:?}"/tests/lib.sh
need_sandbox

for caller in $callers; do
	p=$(project "$caller") records=$work/$caller/records
	touch "$records"; chmod 666 "$records"
	# run OPTION... -- COMMAND...: rc, and what the last record says
	run() {
		as "$caller" sh -c 'f=$1; shift; exec "$@" 8>"$f"' sh "$records" \
			"$oc" run --stdin null --project . --status-fd 8 --timeout 120 "$@" >"$work/out" 2>&1
		rc=$?
		last=$(tail -n 1 "$records")
	}
	field() { printf '%s\n' "$last" | sed -n "s/.*\"$1\": \"\{0,1\}\([^,}\"]*\).*/\1/p"; }
	# breach WHAT LIMIT OPTION VALUE SCRIPT: it ends for that, early
	breach() {
		run --limit "$2=$3" -- sh -c "$4"
		if [ "$rc $(field reason) $(field limit) $(field status)" = "137 limit $2 137" ]; then
			pass "$caller: $1"
		else
			fail "$caller: $1" "rc $rc: $last $(cat "$work/out")"
		fi
		like "$caller: $1: it is said" "$(cat "$work/out")" "*oc-nsrun: limit $2 $3: is used up, and so everything was ended*"
		like "$caller: $1: and recorded" "$(cat "$records")" "*\"event\": \"limit\", \"limit\": \"$2\", \"what\": \"killed\"*"
		as "$caller" chmod -R u+rwx "$p" 2>/dev/null
		as "$caller" find "$p" -mindepth 1 -delete
	}
	breach "a file that grows" write 8M 'cat /dev/zero >big; sleep 100'
	breach "many files" write 8M 'while :; do i=$((i + 1)); head -c 200000 /dev/zero >f$i; done'
	if fallocate -l 1M "$p/probe" 2>/dev/null; then
		breach "what is reserved and not written" write 8M 'fallocate -l 64M big; sleep 100'
	else
		skip "$caller: what is reserved and not written" "no fallocate here"
	fi
	rm -f "$p/probe"
	breach "a directory that nobody may enter" write 8M 'mkdir d; head -c 20000000 /dev/zero >d/f; chmod 0 d; sleep 100'
	breach "deep down" write 8M 'i=0; while [ $i -lt 200 ]; do mkdir d; cd -P d; i=$((i + 1)); done; head -c 20000000 /dev/zero >f; sleep 100'
	breach "a file without a name" write 8M 'exec 3>f; rm f; head -c 20000000 /dev/zero >&3; sleep 100'
	breach "it ends before anybody can look" write 8M 'exec head -c 20000000 /dev/zero >f'
	if [ -x /usr/bin/python3 ]; then
		breach "a memory file" write 8M "exec python3 -c 'import os, time
f = os.memfd_create(\"m\"); os.write(f, bytes(20000000)); time.sleep(100)'"
		# Who hides its descriptors: nobody may look into it, or its thread has others.
		breach "a file without a name of who is not dumpable" write 8M "exec /usr/bin/python3 -c 'import ctypes, os, time
ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
f = os.open(\".\", os.O_TMPFILE | os.O_RDWR); os.write(f, bytes(20000000)); time.sleep(100)'"
		breach "... of one whose first thread has ended" write 8M "exec /usr/bin/python3 -c 'import ctypes, os, threading, time
libc = ctypes.CDLL(None)
def hold():
	f = os.open(\".\", os.O_TMPFILE | os.O_RDWR); time.sleep(1); os.write(f, bytes(20000000)); time.sleep(100)
threading.Thread(target = hold).start()
libc.pthread_exit(None)'"
		nesting="--nesting allow"
		[ "$caller $(stat -c %u "$p")" != "root 0" ] || nesting="$nesting --as 12399:12399"
		# shellcheck disable=SC2086
		run $nesting --max-write 8M -- /usr/bin/python3 -c 'import ctypes, os, threading, time
def hold():
	if ctypes.CDLL(None).unshare(0x400): os._exit(3)
	f = os.open(".", os.O_TMPFILE | os.O_RDWR); os.write(f, bytes(20000000)); time.sleep(100)
t = threading.Thread(target = hold); t.start(); t.join()'
		case $(cat "$work/out") in
		*nesting*) skip "$caller: ... of a thread that has its own" "$(cat "$work/out")" ;;
		*) is "$caller: ... of a thread that has its own" "$rc $(field reason) $(field limit)" "137 limit write" ;;
		esac
	fi
	breach "names" inodes 40 'while :; do i=$((i + 1)); : >f$i; done'
	breach "directories" inodes 40 'while :; do mkdir d; cd -P d; done'

	mkdir -p "$work/$caller/more"
	chown "$(stat -c %u:%g "$p")" "$work/$caller/more"
	run --rw "$work/$caller/more" --max-write 8M -- sh -c "cat /dev/zero >$work/$caller/more/f"
	is "$caller: another root counts" "$rc $(field reason) $(field limit)" "137 limit write"
	rm -rf "${work:?}/$caller/more"

	# What of homes and overlays is kept on the host counts.
	state=$work/$caller/state
	for kept in "--home private=x" "--home overlay --home-keep x" "--overlay-project=x"; do
		# shellcheck disable=SC2016
		case $kept in *project*) where=. ;; *) where='$HOME' ;; esac
		# shellcheck disable=SC2086
		run --state-dir "$state" $kept --max-write 8M -- sh -c "head -c 20000000 /dev/zero >$where/f; sleep 100"
		case $rc:$last in
		125:*'"step": "home"'* | 125:*'"step": "state"'* | 125:*overlay*) skip "$caller: $kept" "not here: $last"; continue ;;
		*) is "$caller: $kept" "$rc $(field reason) $(field limit)" "137 limit write" ;;
		esac
		# A directory of the command's that is named as one of the kernel's.
		# shellcheck disable=SC2086
		run --state-dir "$state" $kept --max-write 8M -- sh -c "mkdir $where/work && head -c 20000000 /dev/zero >$where/work/f; sleep 20"
		is "$caller: $kept: work" "$rc $(field reason) $(field limit)" "137 limit write"
	done
	rm -rf "$state"
	[ ! -e "$p/f" ] && pass "$caller: and not what they are laid over" || fail "$caller: the project was written"

	# A directory that a command of before closed to itself; one that cannot be
	# counted is named, and nothing runs.
	if [ $caller = user ]; then
		run --state-dir "$state" --home private=y -- sh -c 'mkdir "$HOME"/closed && head -c 20000000 /dev/zero >"$HOME"/closed/f && chmod 0 "$HOME"/closed'
		if [ $rc = 0 ]; then
			run --state-dir "$state" --home private=y --max-write 8M -- sh -c 'sleep 1; exit 3'
			is "$caller: a closed directory of before" "$rc $(field reason)" "3 exit"
		else
			skip "$caller: a closed directory of before" "no private home: $(cat "$work/out")"
		fi
		if [ $rc = 3 ] && [ "$(id -u)" = 0 ]; then
			theirs=$(find "$state" -name closed)/../theirs
			mkdir "$theirs"; chmod 700 "$theirs"
			run --state-dir "$state" --home private=y --max-write 8M -- sh -c ': >ran'
			is "$caller: a directory of somebody else's" "$rc" 125
			like "$caller: is named" "$(cat "$work/out")" "*oc-nsrun: limit $state/*/theirs: look at: Permission denied*hint: *"
			[ ! -e "$p/ran" ] && pass "$caller: and nothing ran" || fail "$caller: and nothing ran"
		fi
		as "$caller" chmod -R u+rwx "$state" 2>/dev/null; rm -rf "$state"
	fi

	# What is not the command's to answer for, or changes nothing.
	head -c 20000000 /dev/zero >"$p/old"; chown "$(stat -c %u:%g "$p")" "$p/old"
	run --max-write 8M --limit inodes=40 -- sh -c 'cat old >/dev/null; head -c 1000000 /dev/zero >new; sleep 1'
	is "$caller: what was there before does not count" "$rc $(field reason)" "0 exit"
	grown=$(field grown_bytes)
	[ "$grown" -ge 900000 ] && [ "$grown" -le 2000000 ] && pass "$caller: how much it was" ||
		fail "$caller: how much it was" "$last"
	run --max-write 8M -- sh -c 'for i in 1 2 3 4 5; do ln old link$i; done; mv old older; sleep 1'
	is "$caller: neither do links" "$rc $(field reason)" "0 exit"
	run --max-write 8M -- sh -c 'rm -f old* link*; head -c 20000000 /dev/zero >new; sleep 1'
	is "$caller: what takes another's place does not, either" "$rc $(field reason)" "0 exit"
	run --max-write 8M -- sh -c 'head -c 20000000 /dev/zero >/tmp/f; head -c 20000000 /dev/zero >"$HOME"/g; sleep 1'
	is "$caller: nor what is in memory, which is bounded" "$rc $(field reason)" "0 exit"
	run --max-write 0 --limit inodes=0 -- true
	is "$caller: a budget of nothing is one" "$rc $(field reason)" "0 exit"
	run --limit inodes=1000000 -- sh -c 'exit 3'
	is "$caller: the command's own end stands" "$rc $(field reason) $(field code)" "3 exit 3"
	like "$caller: the numbers are there" "$last" '*"grown_bytes": *"grown_inodes": *'
	run -- true
	unlike "$caller: and only when asked for" "$last" '*grown*'

	# A killed supervisor leaves no watcher.
	as "$caller" "$oc" run --stdin null --project . --max-write 8M -- sh -c ': >ready; sleep 100' &
	pid=$!
	eventually "$caller: it runs" test -e "$p/ready"
	helper=$pid
	[ "$(tr '\0' ' ' <"/proc/$pid/cmdline" | cut -d' ' -f1)" = "$oc" ] || helper=$(cat "/proc/$pid/task/$pid/children")
	helper=${helper%% *}
	children=$(cat "/proc/$helper/task/$helper/children")
	is "$caller: pid 1 and the watcher are its children" "$([ "$(echo "$children" | wc -w)" -ge 2 ] && echo yes)" yes
	kill -9 "$helper"; wait "$pid" 2>/dev/null
	gone() { for child in $children; do [ ! -d "/proc/$child" ] || grep -q '^State:	[ZX]' "/proc/$child/status" || return 1; done; }
	eventually "$caller: both end with it" gone
	rm -f "$p/ready"
done

done_testing
