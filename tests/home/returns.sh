#!/bin/sh
# --credential-return: a changed copy goes back in one rename, or not at all.
. "${srcdir:?}"/tests/lib.sh
. "$srcdir"/tests/home/home.sh
need_sandbox

for caller in $callers; do
	furnish "$caller"
	c=$h/.claude/.credentials.json
	reset() { as "$caller" sh -c 'rm -rf "$1"; echo "{\"token\": \"host\"}" >"$1"; chmod 640 "$1"' sh "$c"; }
	back() { run --credential-copy "$c" --credential-return "$@"; }
	said() { as "$caller" cat "$c"; }
	left() { as "$caller" ls -A "$h/.claude" | tr '\n' ' '; }

	for kind in tmpfs private private=r overlay "overlay --home-keep r"; do
		for how in 'echo "{\"token\": \"new\"}" >"$1"' \
			'echo "{\"token\": \"new\"}" >"$1.tmp"; mv "$1.tmp" "$1"' \
			'rm "$1"; echo "{\"token\": \"new\"}" >"$1"'; do
			reset
			# shellcheck disable=SC2086
			status "$caller: $kind: $how" 3 back --home $kind -- sh -c "$how; exit 3" sh "$c"
			is "$caller: ... is handed back" "$(said)" '{"token": "new"}'
			is "$caller: ... nothing is said" "$said" ""
			is "$caller: ... with its owner and mode" "$(stat -c '%u %a' "$c")" "$(stat -c %u "$h") 640"
			is "$caller: ... and nothing is left beside it" "$(left)" ".credentials.json projects "
		done
		reset
		before=$(tree "$h")
		# shellcheck disable=SC2086
		status "$caller: $kind: unchanged" 0 back --home $kind -- cat "$c"
		# shellcheck disable=SC2086
		status "$caller: $kind: written anew with the same" 0 back --home $kind -- sh -c 'echo "{\"token\": \"host\"}" >"$1"' sh "$c"
		is "$caller: ... not even touched" "$(tree "$h")" "$before"
		# shellcheck disable=SC2086
		run --home $kind --credential-copy "$c" -- sh -c 'echo "{}" >"$1"' sh "$c"
		is "$caller: $kind: never without the option" "$(tree "$h")" "$before"
	done
	# One that was killed while it wrote beside the file.
	as "$caller" ln -s /etc/passwd "$h/.claude/.oc-nsrun-.credentials.json"
	reset
	status "$caller: after one that was killed" 0 back -- sh -c 'echo "{}" >"$1"' sh "$c"
	is "$caller: ... handed back, and what that left is gone" "$(said) $(left)" "{} .credentials.json projects "
	as "$caller" "$oc" home --state-dir "$state" release private=r overlay=r
	reset
	before=$(tree "$h")

	# not WHAT WHY CMD: the command's status stands, a line says why, the host's file stays
	not() {
		what=$1 why=$2; shift 2
		status "$caller: $what: the command's own status" 0 back -- sh -c "$*" sh "$c"
		like "$caller: $what: why" "$said" "oc-nsrun: credential $why"
		is "$caller: $what: the host's stays" "$(tree "$h")" "$before"
	}
	not "empty" "$c: the copy is empty now: not handed back" ': >"$1"'
	not "blank" "$c: the copy is empty now: not handed back" 'echo >"$1"'
	not "half of it" "$c: the copy is no longer the JSON that it was: not handed back" 'printf "{\"token\": \"ne" >"$1"'
	not "torn, with NULs at its end" "$c: the copy is no longer the JSON that it was: not handed back" 'printf "{\"token\": 1}\0\0" >"$1"'
	not "NULs" "$c: the copy is empty now: not handed back" 'printf "\0\0\0" >"$1"'
	not "removed" "$c: not handed back: No such file*" 'rm "$1"'
	not "a directory" "$c: not handed back: Is a directory" 'rm "$1"; mkdir "$1"'
	not "a link" "$c: not handed back: Too many levels*" 'rm "$1"; ln -s /etc/passwd "$1"'
	not "a FIFO" "$c: not handed back: Invalid argument" 'rm "$1"; mkfifo "$1"'
	not "too large" "$c: not handed back: File too large" 'dd if=/dev/zero bs=64K count=17 2>/dev/null | tr "\0" x >"$1"'
	not "unreadable" "$c: not handed back: Permission denied" 'chmod 0 "$1"'
	status "$caller: 1 MiB is not too large" 0 back -- sh -c '(printf "{"; dd if=/dev/zero bs=1048574 count=1 2>/dev/null | tr "\0" x; printf "}") >"$1"' sh "$c"
	is "$caller: ... it is handed back" "$(stat -c %s "$c")" 1048576
	reset

	# The host's changes meanwhile, in each way; the command waits for that.
	meanwhile() {
		what=$1; shift
		reset
		rm -f "$p/ready" "$p/go"
		back -- sh -c 'echo "{\"token\": \"new\"}" >"$1"; touch ready; while ! [ -e go ]; do sleep 0.1; done' sh "$c" >"$work/said" 2>&1 &
		eventually "$caller: $what: it runs" test -e "$p/ready"
		as "$caller" sh -c "$*" sh "$c"
		touch "$p/go"; wait
		like "$caller: $what: why" "$(cat "$work/said")" "oc-nsrun: credential $c: *"
	}
	meanwhile "written meanwhile" 'echo "{\"token\": \"theirs\"}" >"$1"'
	is "$caller: ... the host's stays" "$(said)" '{"token": "theirs"}'
	meanwhile "replaced meanwhile" 'echo "{\"token\": \"theirs\"}" >"$1.x"; mv "$1.x" "$1"'
	is "$caller: ... the host's stays" "$(said)" '{"token": "theirs"}'
	meanwhile "removed meanwhile" 'rm "$1"'
	fails "$caller: ... it stays removed" test -e "$c"
	meanwhile "a link meanwhile" 'rm "$1"; ln -s ../plain/deep/file "$1"'
	is "$caller: ... it stays a link" "$(readlink "$c") $(cat "$h/plain/deep/file")" "../plain/deep/file data"
	meanwhile "a directory meanwhile" 'rm "$1"; mkdir "$1"'
	ok "$caller: ... it stays one" test -d "$c"
	meanwhile "another name meanwhile" 'ln "$1" "$1.2"'
	is "$caller: ... both stay" "$(cat "$c" "$c.2" | uniq)" '{"token": "host"}'
	rm "$c.2"
	is "$caller: nothing is left beside it" "$(left)" ".credentials.json projects "

	# How it ends.
	reset
	status "$caller: ended by a signal" 143 back -- sh -c 'echo "{\"token\": \"new\"}" >"$1"; kill -TERM $$' sh "$c"
	is "$caller: ... is handed back" "$(said)" '{"token": "new"}'
	reset
	status "$caller: ended by the deadline" 124 back --timeout 2s -- sh -c 'echo "{\"token\": \"new\"}" >"$1"; sleep 60' sh "$c"
	is "$caller: ... is handed back" "$(said)" '{"token": "new"}'
	reset
	status "$caller: a command that is not there" 127 back -- /none
	is "$caller: ... says no more" "$(said) $(printf '%s' "$said" | grep -c credential)" '{"token": "host"} 0'
	reset
	as "$caller" sh -c 'echo plain >"$1"' sh "$c"
	status "$caller: no JSON" 0 back -- sh -c 'echo other >"$1"' sh "$c"
	is "$caller: ... is handed back" "$(said)" other
	reset
	is "$caller: a record tells" "$(back --status-fd 3 -- sh -c 'echo "{}" >"$1"' sh "$c" 3>&1 | grep '"event": "credential"' |
		sed 's/.*\("path".*\)}/\1/')" "\"path\": \"$c\", \"returned\": true, \"why\": null"
	is "$caller: ... of what was not" "$(back --status-fd 3 -- sh -c ': >"$1"' sh "$c" 3>&1 2>/dev/null | grep -o '"returned": [a-z]*')" '"returned": false'

	# Launches in one home: the first one to end hands back, the others agree.
	reset
	rm -f "$p/go"
	for i in 1 2 3 4 5 6; do
		back --home private=r -- sh -c 'while ! [ -e go ]; do sleep 0.1; done; echo "{\"token\": \"same\"}" >"$1.'$i'"; mv "$1.'$i'" "$1"' sh "$c" 2>"$work/said.$i" &
	done
	sleep 1; touch "$p/go"; wait
	is "$caller: six at once in one home" "$(said) $(cat "$work"/said.*)" '{"token": "same"} '
	as "$caller" "$oc" home --state-dir "$state" release private=r

	# Bad input.
	reset
	ln "$c" "$c.2"
	status "$caller: a file with two names" 125 back -- true
	like "$caller: ... says so" "$said" "*has other names, and cannot be handed back*"
	rm "$c.2"
	for i in 1 2 3 4 5 6 7 8 9; do as "$caller" sh -c 'echo x >~/c'$i; done
	nine=$(for i in 1 2 3 4 5 6 7 8 9; do printf ' --credential-copy %s' "$h/c$i"; done)
	# shellcheck disable=SC2086
	status "$caller: nine" 125 run $nine --credential-return -- true
	# shellcheck disable=SC2086
	status "$caller: nine that stay" 0 run $nine -- true
	if [ "$caller" = user ]; then
		chmod 500 "$h/.claude"
		status "$caller: a directory that cannot be written" 125 back -- true
		like "$caller: ... says so" "$said" "*credential $c -> --credential-return: access: Permission denied*"
		chmod 700 "$h/.claude"
	fi
done
done_testing
