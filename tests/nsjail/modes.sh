#!/bin/bash
# Modes and signals of oc-nsjail: what ends a jail, and with which status.
. "${srcdir:?}"/tests/lib.sh
need_sandbox
jail=$work/jail
cp "$top_builddir"/nsjail-compat/oc-nsjail "$jail" || exit 99

# start CALLER ARGS...: in the background; sets $pid and $waited
start() {
	dir=$(project "$1")
	rm -f "$dir"/out "$dir"/pid
	as "$1" sh -c 'echo $$ >pid.new; mv pid.new pid
		exec "$@" >out 2>err' sh "$jail" -q -c / -t 60 \
		"${@:2}" 2>/dev/null &
	waited=$!
	until [ -s "$dir"/pid ] && [ -e "$dir"/out ]; do sleep 0.02; done
	pid=$(cat "$dir"/pid)
}
# up: the command has said something
up() { eventually "$1 is up" test -s "$dir"/out; }
# ends WHAT STATUS OUT
ends() {
	wait $waited
	is "$1" "$?: $(tr '\n' ' ' <"$dir"/out)" "$2: $3"
}

waits='echo up; while :; do sleep 0.1; done'
traps="trap 'echo heard; exit 7' TERM INT; $waits"

for caller in $callers; do
	for signal in TERM INT HUP; do
		start $caller -- /bin/sh -c "$traps"
		up "$caller: $signal"
		kill -$signal $pid
		ends "$caller: $signal ends it, unheard" \
			$((128 + $(kill -l $signal))) "up "
	done
	start $caller --forward_signals -- /bin/sh -c "$traps"
	up "$caller: a19"
	kill -TERM $pid
	ends "$caller: --forward_signals, heard" 143 "up heard "
	start $caller --forward_signals --init -- /bin/sh -c "$waits"
	up "$caller: --init"
	kill -TERM $pid
	ends "$caller: --init: SIGTERM is heard without a handler" 143 "up "
	start $caller --forward_signals -- /bin/sh -c \
		"trap 'echo heard' TERM; $waits"
	up "$caller: twice"
	kill -TERM $pid
	eventually "$caller: a first SIGTERM" grep -q heard "$dir"/out
	kill -TERM $pid
	ends "$caller: a second one ends it all the same" 143 "up heard "

	start $caller -- /bin/sh -c "$waits"
	up "$caller: QUIT"
	kill -QUIT $pid
	kill -USR1 $pid
	sleep 0.3
	ok "$caller: SIGQUIT and SIGUSR1 only ask" kill -0 $pid
	kill -KILL $pid
	wait $waited 2>/dev/null
	is "$caller: SIGKILL" $? 137

	# Whoever lives holds the lock, and lets it go when it dies.
	start $caller -B "$dir":/mnt -- /bin/sh -c \
		"exec 9>/mnt/lock; flock 9; $waits"
	up "$caller: a lock"
	kill -KILL $pid
	wait $waited 2>/dev/null
	eventually "$caller: and its jail dies with it" \
		flock -n "$dir"/lock true

	start $caller -Mr -B "$dir":/mnt -- /bin/sh -c \
		'echo x >>/mnt/count; test "$(wc -l </mnt/count)" -lt 3 ||
		{ echo up; sleep 60; }; exit 5'
	up "$caller: RERUN"
	is "$caller: RERUN, whatever the status" "$(wc -l <"$dir"/count)" 3
	kill -TERM $pid
	ends "$caller: RERUN ends by a signal" 143 "up "
	status "$caller: RERUN ends when nothing can be launched" 255 \
		as $caller "$jail" -Q -c / -Mr -- /no/such
	rm -f "$dir"/count

	start $caller -Me -- /bin/sh -c "$traps"
	up "$caller: EXECVE"
	kill -TERM $pid
	ends "$caller: EXECVE: signals are the command's" 7 "up heard "

	status "$caller: abort" 139 as $caller "$jail" -q -c / -- \
		/bin/sh -c 'sh -c "kill -SEGV \$\$"; exit $?'
	status "$caller: --init: abort" 134 as $caller "$jail" -q -c / --init \
		-- /bin/sh -c 'kill -ABRT $$'
	status "$caller: --init: SIGTERM to itself" 143 as $caller "$jail" -q \
		-c / --init -- /bin/sh -c 'kill -TERM $$'
	is "$caller: --init reaps orphans" "$(as $caller "$jail" -q -c / --init \
		-- /bin/sh -c 'sh -c "true & exec true"; sleep 0.3
		grep -l "^State:.*Z" /proc/[0-9]*/status | wc -l' 2>/dev/null)" 0
	status "$caller: the status of what was killed" 137 as $caller "$jail" \
		-q -c / -t 0.3 -- /bin/sleep 60
	status "$caller: a status of 255 is the command's" 255 as $caller \
		"$jail" -q -c / -- /bin/sh -c 'exit 255'

	start $caller -v -d -l "$dir"/log -B "$dir":/mnt -- /bin/sh -c \
		'sleep 0.5; echo done >/mnt/done'
	ends "$caller: a daemon is gone at once" 0 ""
	eventually "$caller: and works" grep -q done "$dir"/done
	eventually "$caller: its log too" grep -q 'exited with status: 0' \
		"$dir"/log
	rm -f "$dir"/done "$dir"/log
done
done_testing
