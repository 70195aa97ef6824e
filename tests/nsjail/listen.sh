#!/bin/bash
# Mode LISTEN: a jail a connection, its limits, and its end with its client.
. "${srcdir:?}"/tests/lib.sh
need_sandbox
cp "$top_builddir"/nsjail-compat/oc-nsjail "$work"/jail || exit 99

# start CALLER ARGS...: sets $pid and $port
start() {
	: >"$work"/log
	chmod 666 "$work"/log
	as "$1" sh -c 'echo $$ >"$0"; exec "$@"' "$work/$1/pid" "$work"/jail -Ml --port 0 --bindhost 127.0.0.1 -c / \
		-l "$work"/log "${@:2}" 2>/dev/null &
	waited=$! port=
	for _ in {1..100}; do
		port=$(sed -n 's/.*Listening on .*:\([0-9]*\)$/\1/p' "$work"/log)
		[ "$port" ] && pid=$(cat "$work/$1/pid") && return
		sleep 0.05
	done
}
stop() { kill -TERM $pid; wait $waited; }
# Everything that the connection on descriptor 3 says, up to its end.
rest() { timeout 10 cat <&3; exec 3>&-; }

for caller in $callers; do
	start $caller -- /bin/sh -c \
		'echo hi; read -r x; echo got $x; test -p /dev/stdin && echo pipe'
	exec 3<>/dev/tcp/127.0.0.1/$port && echo foo >&3
	is "$caller: says, hears and says" "$(rest)" "hi
got foo
pipe"
	exec 3<>/dev/tcp/127.0.0.1/$port && echo bar >&3
	is "$caller: and the next one too" "$(rest)" "hi
got bar
pipe"
	stop
	is "$caller: SIGTERM is an ordinary end" $? 0

	start $caller --max_conns_per_ip 1 -- /bin/sh -c 'echo in; exec sleep 30'
	exec 3<>/dev/tcp/127.0.0.1/$port
	read -r -t 10 first <&3
	is "$caller: the first gets in" "$first" in
	exec 4<>/dev/tcp/127.0.0.1/$port
	is "$caller: the second does not, and is not told" \
		"$(timeout 10 cat <&4)" ""
	exec 4>&- 3>&-
	# Its jail ends a second after the client.
	sleep 1.5
	exec 3<>/dev/tcp/127.0.0.1/$port
	read -r -t 10 first <&3
	is "$caller: a client that is gone leaves room" "$first" in
	stop
	is "$caller: SIGTERM ends what runs" "$(rest)" ""

	start $caller --max_conns 2 -- /bin/sh -c 'echo in; exec sleep 30'
	exec 3<>/dev/tcp/127.0.0.1/$port 4<>/dev/tcp/127.0.0.1/$port
	read -r -t 10 first <&3
	read -r -t 10 second <&4
	exec 5<>/dev/tcp/127.0.0.1/$port
	is "$caller: two get in, and the third does not" \
		"$first $second $(timeout 10 cat <&5)" "in in "
	eventually "$caller: which the log tells" \
		grep -q "Rejecting connection from '.*127.0.0.1" "$work"/log
	exec 3>&- 4>&- 5>&-
	stop

	# One that lives is seen by its lock, which ends with it.
	start $caller -B "$work/$caller":/mnt -- /bin/sh -c \
		'exec 9>/mnt/lock; flock 9; echo in; trap "" HUP TERM PIPE
		while :; do sleep 9; done'
	exec 3<>/dev/tcp/127.0.0.1/$port
	read -r -t 10 first <&3
	fails "$caller: a jail that does not care for its input lives" \
		flock -n "$work/$caller/lock" true
	exec 3>&-
	eventually "$caller: and dies with its client" \
		flock -n "$work/$caller/lock" true
	kill -INT $pid
	wait $waited
	is "$caller: SIGINT is an ordinary end too" $? 0

	start $caller --bindhost :: -- /bin/sh -c 'echo out; echo err >&2'
	for address in 127.0.0.1 ::1; do
		# shellcheck disable=SC2188
		if ! (exec 3<>"/dev/tcp/$address/$port") 2>/dev/null; then
			skip "$caller: $address" "no such address here"
			continue
		fi
		exec 3<>"/dev/tcp/$address/$port"
		is "$caller: both families at ::, here $address" "$(rest)" "out
err"
	done
	status "$caller: a port that is taken" 255 as $caller "$work"/jail -Q \
		-c / --port $port --bindhost :: -- /bin/true
	stop

	start $caller --bindhost ::1 -- /bin/echo in
	fails "$caller: nobody at an address that was not named" \
		bash -c "exec 3<>/dev/tcp/127.0.0.1/$port"
	stop

	start $caller --stderr_to_null -- /bin/sh -c 'echo out; echo err >&2'
	exec 3<>/dev/tcp/127.0.0.1/$port
	is "$caller: --stderr_to_null" "$(rest)" out
	stop

	printf '%s\n' 'mode: LISTEN port: 0 bindhost: "127.0.0.1" max_conns: 1' \
		'mount { src: "/" dst: "/" is_bind: true }' \
		'exec_bin { path: "/bin/echo" arg: "configured" }' \
		>"$work"/listen.cfg
	start $caller -C "$work"/listen.cfg
	exec 3<>/dev/tcp/127.0.0.1/$port
	is "$caller: a configuration" "$(rest)" configured
	stop

	start $caller -t 1 -- /bin/cat
	exec 3<>/dev/tcp/127.0.0.1/$port
	head -c 200000 /dev/zero >&3 &
	is "$caller: bytes, and the time limit" "$(rest | wc -c)" 200000
	stop
done
ok "a port that is none" sh -c '"$1" -Q -c / --port 70000 -- /bin/true
	test $? = 255' sh "$work"/jail
ok "an address that is none" sh -c '"$1" -Q -c / --port 0 --bindhost x -- \
	/bin/true; test $? = 255' sh "$work"/jail
done_testing
