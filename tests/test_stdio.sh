#!/bin/sh
# Standard input, output and error: what passes, what is relayed, what is refused.
. "${srcdir:?}"/tests/lib.sh
need_sandbox

for caller in $callers; do
	p=$(project "$caller")
	run() { as "$caller" "$oc" run --project . "$@"; }

	is "$caller: a pipe in, a pipe out" "$(echo hello | run -- cat)" hello
	is "$caller: a file in" "$(echo from file >"$work/in"; run -- cat <"$work/in")" "from file"
	is "$caller: a large file in, whole" \
		"$(head -c 3000000 /dev/zero >"$work/big"; run -- wc -c <"$work/big")" 3000000
	run -- sh -c 'echo out; echo err >&2' >"$work/out" 2>"$work/err"
	is "$caller: a file out" "$(cat "$work/out")" out
	is "$caller: a file for errors" "$(cat "$work/err")" err
	is "$caller: --stdin null" "$(echo secret | run --stdin null -- cat)" ""
	is "$caller: 2>&1 keeps its order" "$(run -- sh -c 'echo 1; echo 2 >&2; echo 3' 2>&1 | tr '\n' ' ')" "1 2 3 "
	run -- sh -c 'echo 1; echo 2 >&2; echo 3' >"$work/both" 2>&1
	is "$caller: ... in a file" "$(tr '\n' ' ' <"$work/both")" "1 2 3 "
	run -- sh -c 'echo 4; : >/proc/self/fd/1; echo 5' >>"$work/both" 2>/dev/null
	is "$caller: a file that is appended to keeps what it has" \
		"$(tr '\n' ' ' <"$work/both")" "1 2 3 4 5 "
	{ echo before; run -- sh -c 'echo in'; echo after; } >"$work/both"
	is "$caller: a file that is shared is written where it was" \
		"$(tr '\n' ' ' <"$work/both")" "before in after "

	# What the command does not read is left for who comes after it.
	printf '%s\n' "run() { $oc run --project . \"\$@\"; }" \
		'while read -r line; do eval "$line"; done' >"$work/loop"
	is "$caller: a script on a pipe goes on" \
		"$(printf '%s\n' 'run -- true' 'echo next' 'run -- sh -c "read x; echo \$x"' taken 'echo last' |
		as "$caller" sh "$work/loop" | tr '\n' ' ')" "next taken last "
	printf '1\n2\n3\n' >"$work/lines"
	is "$caller: so does a loop over a file" "$(as "$caller" sh -c 'while read -r l; do echo "$l"; '"$oc"' run --project . -- true; done' <"$work/lines" | tr '\n' ' ')" "1 2 3 "
	is "$caller: a pipe of many megabytes, whole" "$(head -c 5000000 /dev/zero | run -- sh -c 'wc -c')" 5000000

	# A file that was opened for reading is not written, whatever is tried.
	echo precious >"$work/precious"; chmod 666 "$work/precious"
	run -- sh -c 'echo evil >/proc/self/fd/0; echo evil >/dev/stdin; true' \
		<"$work/precious" >/dev/null 2>&1
	is "$caller: standard input cannot be opened again for writing" "$(cat "$work/precious")" precious

	run -- sh -c 'echo evil >/proc/self/fd/0; true' <>"$work/precious" >/dev/null 2>&1
	is "$caller: ... nor one that was opened for both" "$(cat "$work/precious")" precious
	said=$(run -- true 1<"$work/precious" 2>&1); is "$caller: a file for reading only is no output" "$?" 125
	run -- cat <&- >"$work/out" 2>&1; is "$caller: closed stdin reads as empty" "$?" 0
	run -- sh -c 'echo x' >&-; is "$caller: closed stdout is writable" "$?" 0
	run -- sh -c 'echo x >&2' 2>&-; is "$caller: closed stderr is writable" "$?" 0
	run -- sh -c 'exit 3' <&- >&- 2>&-; is "$caller: all three closed" "$?" 3

	said=$(run -- cat <"$work" 2>&1); is "$caller: a directory is refused" "$?" 125
	like "$caller: ... by name" "$said" "*stdin: is a directory"

	# Sockets end outside, a pipe enters.
	if [ -x /usr/bin/python3 ]; then
		got=$(as "$caller" /usr/bin/python3 -c '
import socket, subprocess, sys
a, b = socket.socketpair()
p = subprocess.Popen(sys.argv[1:], stdin=b, stdout=b)
b.close()
a.sendall(b"ping\n"); a.shutdown(socket.SHUT_WR)
data = b""
while True:
    d = a.recv(4096)
    if not d: break
    data += d
print(data.decode().strip(), p.wait())
' "$oc" run --project . -- sh -c 'cat; stat -L -c %F /proc/self/fd/0 /proc/self/fd/1')
		is "$caller: a socket is relayed through pipes" "$(echo $got)" "ping fifo fifo 0"
	else
		skip "$caller: a socket is relayed through pipes" "no /usr/bin/python3"
	fi

	# Output caps.
	is "$caller: --max-output cuts and says so" \
		"$(run --stdin null --max-output 10 -- sh -c 'echo 0123456789abcdef')" "0123456789
[output truncated at 10]"
	is "$caller: ... and drains" "$(run --stdin null --max-output 1K -- sh -c \
		'head -c 5000000 /dev/zero; echo done >&2' 2>&1 >/dev/null)" "done"
	is "$caller: each stream has its cap" "$(run --stdin null --max-output 4 -- sh -c \
		'echo 123; echo 456 >&2' 2>&1 | sort | tr '\n' ' ')" "123 456 "
	is "$caller: a cap that is not reached changes nothing" \
		"$(run --stdin null --max-output 1M -- seq 1000 | md5sum)" "$(seq 1000 | md5sum)"
	run --stdin null --max-output 1M -- yes 2>/dev/null | head -n 1 >/dev/null
	pass "$caller: a reader that goes away ends the writer"

	# Who does not read holds up nothing but himself.
	mkfifo "$work/$caller/full" && chmod 666 "$work/$caller/full"
	sleep 30 <>"$work/$caller/full" >/dev/null 2>&1 &
	holder=$!
	sleep 0.1
	before=$(date +%s)
	run --stdin null --max-output 100M --timeout 1s -- sh -c 'yes & yes >&2' >"$work/$caller/full" 2>&1
	is "$caller: the deadline, with an output that nobody reads" "$?" 124
	run --stdin null --status-fd 7 --timeout 1s -- sleep 20 7>"$work/$caller/full" 2>/dev/null
	is "$caller: ... with records that nobody reads" "$?" 124
	[ $(($(date +%s) - before)) -lt 20 ] && pass "$caller: ... in time" || fail "$caller: ... in time"
	kill $holder; wait $holder 2>/dev/null
	rm -f "$work/$caller/full"

	# The terminal. script(1) types an end of file of its own, shown as ^@.
	clean() { tr -d '\r' | sed 's/\^@//g'; }
	tty() { as "$caller" script -qec "$1" /dev/null </dev/null 2>&1 | clean; }
	if ! script -qec true /dev/null </dev/null >/dev/null 2>&1; then
		skip "$caller: terminals" "no script(1)"
		continue
	fi
	is "$caller: a terminal of its own" "$(tty "$oc run --project . -- tty")" /dev/pts/0
	is "$caller: ... that is the controlling one" \
		"$(tty "$oc run --project . -- sh -c 'echo here >/dev/tty'")" here
	is "$caller: ... of the caller's size" "$(as "$caller" script -qec \
		"stty rows 33 cols 77; exec $oc run --project . -- stty size" /dev/null </dev/null | clean)" "33 77"
	like "$caller: the caller's terminal is restored" \
		"$(tty "stty -a >$p/before; $oc run --project . -- stty raw -echo; stty -a >$p/after; cmp $p/before $p/after && echo same")" "*same*"
	is "$caller: job control works" "$(tty "$oc run --project . -- bash --norc -ic 'set -o | grep -c \"monitor.*on\"'" | tail -n 1)" 1
	is "$caller: output only to a terminal" "$(tty "echo in | $oc run --project . -- cat")" in
	# TIOCSTI reaches nobody: what it would type never runs in the caller's shell.
	cat >"$p/sti.py" <<'PY'
import fcntl, termios
for fd in (0, 1, 2):
    try:
        for c in b"echo INJECTED\n":
            fcntl.ioctl(fd, termios.TIOCSTI, bytes([c]))
        print("typed")
    except OSError as e:
        print("errno", e.errno)
PY
	if [ -x /usr/bin/python3 ]; then
		is "$caller: TIOCSTI is refused" "$(tty "$oc run --project . -- /usr/bin/python3 sti.py" | grep -aoE 'errno [0-9]+|typed' | sort -u)" "errno 1"
	fi
done
done_testing
