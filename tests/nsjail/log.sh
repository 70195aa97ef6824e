#!/bin/bash
# The log of oc-nsjail as programs parse it, and the status beside it.
. "${srcdir:?}"/tests/lib.sh
need_sandbox
jail=$work/jail
cp "$top_builddir"/nsjail-compat/oc-nsjail "$jail" || exit 99

# A line without its date and its pids.
plain() {
	sed 's/\[20[^]]*+0000\]/[DATE]/; s/pid=[0-9]*/pid=N/g
		s/\]\[[0-9]*\] \([a-zA-Z]*\)():[0-9]*/][PID] \1():N/'
}
# log_of CALLER ARGS...: what it logs, of the levels $levels
levels=DIWEF
log_of() {
	as "$1" env TZ=UTC "$jail" -c / "${@:2}" 2>&1 >/dev/null </dev/null |
		plain | grep "^\[[$levels]\]"
}
# has WHAT LOG LINE
has() {
	case "
$2
" in
	*"
$3
"*) pass "$1" ;;
	*) fail "$1" "no line \"$3\" in
$2" ;;
	esac
}

for caller in $callers; do
	log=$(log_of $caller -- /bin/sh -c 'exit 7')
	has "$caller: the mode" "$log" "[I][DATE] Mode: STANDALONE_ONCE"
	has "$caller: a mount" "$log" \
		"[I][DATE] Mount: '/proc' flags:MS_RDONLY type:'proc' dir:true"
	has "$caller: the program" "$log" \
		"[I][DATE] Executing '/bin/sh' for '[STANDALONE MODE]'"
	has "$caller: its status" "$log" "[I][DATE] pid=N ([STANDALONE MODE]) exited with status: 7, (PIDs left: 0)"
	is "$caller: nine lines at the level of information" \
		"$(echo "$log" | grep -c '^\[I\]')" 9

	log=$(log_of $caller --rlimit_cpu 1 -- /bin/sh -c 'while :; do :; done')
	has "$caller: its signal" "$log" "[I][DATE] pid=N ([STANDALONE MODE]) terminated with signal: SIGKILL (9), (PIDs left: 0)"
	log=$(log_of $caller --seccomp_string \
		'KILL_PROCESS { newuname } DEFAULT ALLOW' -- /bin/uname)
	has "$caller: a violation" "$log" "[W][DATE][PID] seccompViolation():N pid=N committed a syscall/seccomp violation and exited with SIGSYS"
	has "$caller: and its signal" "$log" "[I][DATE] pid=N ([STANDALONE MODE]) terminated with signal: SIGSYS (31), (PIDs left: 0)"
	log=$(log_of $caller -t 0.5 -- /bin/sleep 9)
	like "$caller: the time limit" "$log" \
		"*pid=N run time >= time limit (0.*>= 0.5) (\[STANDALONE MODE\]). Killing it*"
	log=$(log_of $caller -- /no/such)
	has "$caller: a launch that failed" "$log" \
		"[E][DATE][PID] runChild():N Launching child process failed"
	is "$caller: with the line's number that is looked for" "$(as $caller \
		"$jail" -c / -- /no/such 2>&1 |
		grep -c 'runChild():486 Launching child process failed')" 1

	levels=DI
	is "$caller: -q" "$(log_of $caller -q -- /bin/true)" ""
	levels=DIWE
	is "$caller: -Q" "$(log_of $caller -Q -- /bin/true)" ""
	is "$caller: the last of -q, -Q and -v" \
		"$(log_of $caller -Q -q -v -- /bin/true | cut -c 1-3 | sort -u |
			grep -v W | tr '\n' ' ')" "[D] [I] "
	levels=W
	log=$(log_of $caller -- /bin/true)
	case $caller in
	root) is "root: is told twice, for uid and gid" \
		"$(echo "$log" | wc -l)" 2 ;;
	*) is "user: there is nothing to warn of" "$log" "" ;;
	esac
	like "$caller: bytes for MiB" \
		"$(log_of $caller --rlimit_as 4294967296 -- /bin/true)" \
		"*setLimits():N rlimit_as is in MiB; 4294967296 of them*"
	like "$caller: a program known to need more" \
		"$(log_of $caller -- /no/node18)" "*'/no/node18' reserves*"
	unlike "$caller: unless it may have all" \
		"$(log_of $caller --rlimit_as inf -- /no/node18)" "*reserves*"
	like "$caller: PATH is not searched" "$(log_of $caller -- true)" \
		"*'true' is looked for in the working directory; PATH is not*"
	like "$caller: a log that cannot be opened" \
		"$(log_of $caller -l /no/such/log -- /bin/true)" \
		"*Couldn't open logfile '/no/such/log': No such file*"
	like "$caller: a descriptor that is not open" \
		"$(log_of $caller -L 77 -- /bin/true)" "*log_fd 77*"
	like "$caller: an address that is unset" \
		"$(log_of $caller -E NO_SUCH -- /bin/true)" \
		"*'NO_SUCH' envar, but it's not set. It'll be ignored*"
	levels=DIWEF

	is "$caller: --log" "$(as $caller sh -c '"$1" -c / -l log -- /bin/true 2>&1
		stat -c %a log; grep -c "Mode: STANDALONE_ONCE" log
		"$1" -c / -l log -- /bin/true; grep -c "Mode:" log; rm log' \
		sh "$jail")" "640
1
2"
	is "$caller: --log_fd" "$(as $caller sh -c '"$1" -c / -L 5 -- /bin/true \
		5>log; grep -c Mode: log; rm log' sh "$jail")" 1
	like "$caller: what runs, on SIGUSR1" "$(as $caller sh -c '
		"$1" -c / -l log -- /bin/sh -c "echo; exec sleep 9" >out & p=$!
		until [ -s out ]; do sleep 0.05; done
		kill -USR1 $p; until grep -q Remote log; do sleep 0.05; done
		kill $p; wait $p; cat log; rm -f log out' sh "$jail")" \
		"*Total number of spawned namespaces: 1*Remote host: \[STANDALONE MODE\], Run time: * sec. (time left: * s.)*"

	like "$caller: status_fd" "$(as $caller "$jail" -Q -c / --status_fd 1 \
		-- /bin/sh -c 'exit 255')" \
		'*"event": "started"*"event": "exited"*"code": 255*'
	like "$caller: a launch that failed" "$(as $caller "$jail" -Q -c / \
		--status_fd 1 -- /no/such 2>/dev/null)" \
		'*"event": "failed", "step": "exec"*"status": 255}'
	like "$caller: a mount that failed" "$(as $caller "$jail" -Q -c / \
		--status_fd 1 -R /no/such -- /bin/true 2>/dev/null)" \
		'*"event": "failed", "step": "mount"*"status": 255}'
	like "$caller: a policy that failed" "$(as $caller "$jail" -Q -c / \
		--status_fd 1 --seccomp_string x -- /bin/true 2>/dev/null)" \
		'*"event": "failed"*"status": 255}'
	like "$caller: a word that is not understood" "$(as $caller "$jail" -Q \
		-c / --status_fd 1 --rlimit_as 1G -- /bin/true 2>/dev/null)" \
		'*"event": "failed", "step": "option"*"status": 255}'
done
done_testing
