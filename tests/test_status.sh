#!/bin/sh
# --status-fd, deadlines, signals: what a host learns, and when.
. "${srcdir:?}"/tests/lib.sh
need_sandbox

for caller in $callers; do
	p=$(project "$caller")
	# records WORD...: run, and leave the records in $records
	records() {
		as "$caller" sh -c 'f=$1; shift; exec "$@" 8>"$f"' sh "$work/$caller/records" \
			"$oc" run --stdin null --project . --status-fd 8 "$@" >/dev/null 2>&1
		rc=$?
		records=$(cat "$work/$caller/records")
	}
	touch "$work/$caller/records"; chmod 666 "$work/$caller/records"
	finals() { printf '%s\n' "$records" | grep -cE '"event": "(exited|failed)"'; }
	field() { printf '%s\n' "$records" | sed -n "s/.*\"$1\": \"\{0,1\}\([^,}\"]*\).*/\1/p" | tail -n 1; }

	records -- sh -c 'exit 3'
	is "$caller: started, then exited" "$(printf '%s\n' "$records" | sed 's/.*"event": "\([a-z]*\)".*/\1/' | tr '\n' ' ')" "started exited "
	is "$caller: the code" "$(field code)" 3
	is "$caller: the reason" "$(field reason)" exit
	like "$caller: the filter and its hash" "$records" '*"name": "seccomp-1", "variant": "denied", "sha256": "????????????????????????????????????????????????????????????????"*'
	inode=$(field net)
	[ "$inode" -gt 1 ] && [ "$inode" != "$(stat -L -c %i /proc/self/ns/net)" ] &&
		pass "$caller: the namespaces' numbers" || fail "$caller: the namespaces' numbers" "$inode"
	if [ -x /usr/bin/python3 ]; then
		ok "$caller: each record is JSON" /usr/bin/python3 -c 'import json, sys
for line in open(sys.argv[1]):
    assert json.loads(line)["v"] == 1' "$work/$caller/records"
	fi

	records -- sh -c 'kill -TERM $$'
	is "$caller: death by signal" "$(field reason) $(field signal) $(field status)" "signal 15 143"
	records -- no-such-command
	is "$caller: failed, once" "$(finals) $(field category) $(field errno) $(field status)" "1 not-found ENOENT 127"
	records --project /usr -- true
	is "$caller: refused, once" "$(finals) $(field category) $(field step)" "1 bad-input project"
	records --bogus -- true
	is "$caller: a bad option, before or after the descriptor" "$(finals) $(field category)" "1 bad-input"
	as "$caller" sh -c 'f=$1; shift; exec "$@" 8>"$f"' sh "$work/$caller/records" \
		"$oc" run --bogus --status-fd 8 -- true 2>/dev/null
	is "$caller: ... before it" "$(grep -c '"event": "failed"' "$work/$caller/records")" 1
	said=$(as "$caller" sh -c "exec $oc run --status-fd 3 -- true 3>&-" 2>&1)
	is "$caller: an option does not reach a descriptor of the program's own" "$?" 125
	said=$(as "$caller" sh -c "exec $oc run --status-fd 5 --env-fd 5 -- true 5</dev/null" 2>&1)
	is "$caller: one descriptor for two options is refused" "$?" 125
	records --timeout 300ms -- sleep 60
	is "$caller: the deadline" "$rc $(finals) $(field reason) $(field limit)" "124 1 deadline timeout"
	records --max-output 5 -- echo 1234567890
	is "$caller: a cut output" "$(field stdout_bytes) $(field dropped_bytes) $(field limit)" "5 6 max-output"
	records -- sh -c 'for i in 1 2 3; do setsid sleep 60 & done'
	is "$caller: what was left is killed, and counted" "$(field killed)" 3
	records --limit cpu=1 -- sh -c 'while :; do :; done'
	is "$caller: the cpu limit" "$rc $(field limit)" "152 cpu"
	records --limit file-size=4K -- sh -c 'exec head -c 5000 /dev/zero >big'
	is "$caller: the file size limit" "$(field limit)" file-size
	rm -f "$p/big"

	# Signals reach the command's process group; nothing outlives the end.
	# signalled SIGNAL CMD...: sent to the program after a while
	signalled() {
		sig=$1; shift
		as "$caller" timeout --foreground --preserve-status -s "$sig" 0.4 \
			"$oc" run --stdin null --project . -- "$@"
	}
	for pair in TERM:143 INT:130 HUP:129 QUIT:131; do
		signalled ${pair%:*} sh -c 'sleep 61; true'
		is "$caller: SIG${pair%:*}" "$?" "${pair#*:}"
	done
	signalled TERM sh -c 'trap "exit 9" TERM; sleep 60 & wait $!'
	is "$caller: a handler's status comes back" "$?" 9
	signalled TERM sh -c 'trap "" TERM; while :; do sleep 1; done'
	is "$caller: who ignores SIGTERM is ended" "$?" 143
	as "$caller" timeout --foreground --preserve-status -s HUP 0.3 sh -c \
		'trap "" HUP; exec "$@"' sh "$oc" run --stdin null --project . -- \
		sh -c 'sleep 1; exit 4'
	is "$caller: a SIGHUP that the caller ignores stays ignored" "$?" 4
done
done_testing
