#!/bin/sh
# Where only the network namespace is refused, `denied` goes on in the host's,
# by a plan of its own that says so; `isolated` does not. And who makes it: a
# process beside the child, or the child itself where one processor is all.
. "${srcdir:?}"/tests/lib.sh
need_sandbox

for caller in $callers; do
	for on in env "taskset 1"; do
		# shellcheck disable=SC2086
		said=$(as "$caller" $on "$oc" bwrap --unshare-net --ro-bind / / --proc /proc --unshare-pid -- \
			sh -c 'readlink /proc/self/ns/net; grep -c : /proc/net/dev; grep -c 127.0.0.1 /proc/net/fib_trie')
		like "$caller: $on: a network with lo alone, which is up" "$said" 'net:*
1
[1-9]*'
		unlike "$caller: $on: ... and not the host's" "$said" "$(readlink /proc/self/ns/net)*"
	done
	# A user namespace in which no network namespace may be made.
	without() {
		as "$caller" unshare -U -r sh -c \
			'echo 0 >/proc/sys/user/max_net_namespaces && exec "$@"' sh "$@"
	}
	without true 2>/dev/null || { skip "$caller: fallback" "user.max_net_namespaces cannot be lowered here"; continue; }
	status "$caller: denied runs" 0 without "$oc" run --stdin null --project . --status-fd 2 -- true
	like "$caller: ... and says how" "$said" '*"fallbacks": \["network-namespace"\]*'
	is "$caller: ... with one final record" "$(printf '%s\n' "$said" | grep -cE '"event": "(exited|failed)"')" 1
	unlike "$caller: ... with no network namespace of its own" "$said" '*"namespaces": {*"net"*}, "network"*'
	if [ -x /usr/bin/python3 ]; then
		is "$caller: ... without sockets" "$(without "$oc" run --stdin null --project . -- /usr/bin/python3 -c '
import socket
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK):
    try:
        socket.socket(family, socket.SOCK_RAW if family == socket.AF_NETLINK else socket.SOCK_STREAM); print("open")
    except OSError as e: print(e.errno)
' | sort -u)" 97
	fi
	status "$caller: isolated is refused" 125 without "$oc" run --stdin null --project . --network isolated -- true
	said=$(without "$oc" doctor); rc=$?
	like "$caller: doctor names it" "$said" "*FAIL  net namespace*"
	like "$caller: ... and that the rest works" "$said" "*ok    launch:*host's network namespace*"
	# Where more is refused, nothing runs.
	status "$caller: no user namespaces at all: refused" 125 as "$caller" unshare -U -r sh -c \
		'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"' sh "$oc" run --stdin null --project . -- true
	like "$caller: ... with the remedy" "$said" "*hint:*max_*_namespaces*"
done
done_testing
