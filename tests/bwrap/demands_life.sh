# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh disable=SC2154,SC2086,SC2016
# Who ends when, who is told, and what is left.

die="$all --proc /proc --die-with-parent"
modes='in-place --unshare-pid --as-pid-1'

dying() {
	# A thousand: #633, #700.
	for mode in $modes; do
		is "$caller: killed 336 times, $mode" "$(own "$aid" kills 336 it \
			bwrap $die $(mode $mode) sleep 99 2>/dev/null)" "nothing is left"
		is "$caller: its parent, 80 times, $mode" "$(own "$aid" kills 80 \
			parent bwrap $die $(mode $mode) --json-status-fd 9 sleep 99 \
			2>/dev/null)" "nothing is left"
		is "$caller: the thread that started it, $mode (#692)" "$(own \
			"$aid" thread bwrap $die $(mode $mode) sh -c \
			'sleep 0.2; echo lived' 2>&1)" lived
	done
	is "$caller: with --unshare-pid its children, too" "$(own "$aid" kills 16 it \
		bwrap $die --unshare-pid sh -c 'sleep 99 & sleep 99' 2>/dev/null)" \
		"nothing is left"
	# Without: #529 is not met, and told. The command itself ends.
	rm -f "$T/child"
	hold first $all --bind "$T" "$T" --proc /proc --die-with-parent
	inside=$(cut -d' ' -f1 "/proc/$(pid_of first)/task/$(pid_of first)/children")
	kill -KILL "$(pid_of first)"; wait $holder
	eventually "$caller: without, the command alone" sh -c '! kill -0 "$1"' _ "$inside"
}

after() {
	rm -f "$T"/bg.*
	behind='(until [ -e "$1.go" ]; do sleep 0.02; done; echo >"$1.end") & exit 5'
	as "$caller" "$probe" only - timeout 30 bwrap $all --bind "$T" "$T" \
		--unshare-pid sh -c "$behind" _ "$T/bg" >/dev/null 2>&1
	is "$caller: it returns with the command" $? 5
	let_go bg
	eventually "$caller: and the rest goes on (#105)" test -e "$T/bg.end"
	is "$caller: --kill-on-exit ends it (#614)" "$(run $all --unshare-pid \
		--kill-on-exit sh -c 'sleep 99 & exit 5'; echo $?)" 5
	is "$caller: status of a signal" "$(run $all sh -c 'kill -KILL $$' \
		2>/dev/null; echo $?)" 137
	is "$caller: zombies are reaped" "$(run $all --proc /proc --unshare-pid sh -c '
		for i in 1 2 3 4 5; do sh -c "sleep 0 & exit"; done
		for i in $(seq 100); do
			grep -qs "^State:.Z" /proc/[0-9]*/status || break
			sleep 0.05
		done; grep -ls "^State:.Z" /proc/[0-9]*/status | wc -l')" 0
}

signals() {
	trapping='trap "echo got; exit 7" TERM; echo >"$1.up"
		for i in $(seq 500); do sleep 0.02; done'
	for how in --forward-signals '--forward-signals --unshare-pid'; do
		rm -f "$T"/sig.*
		as "$caller" "$probe" only - sh -c 'echo $$ >"$1.pid"; shift
			exec bwrap "$@"' _ "$T/sig" $all --bind "$T" "$T" $how \
			sh -c "$trapping" _ "$T/sig" >"$work/sig" 2>&1 &
		eventually "$caller: $how" test -e "$T/sig.up"
		kill -TERM "$(pid_of sig)"; wait $!
		is "$caller: ... the command's status (#369)" "$? $(cat "$work/sig")" "7 got"
	done
}

# More than bubblewrap's two lines only where asked for (#553).
records() {
	run_json() {
		rm -f "$T/json"
		fd "3+$T/json" $all --proc /proc --unshare-pid --json-status-fd 3 "$@"
	}
	run_json true
	is "$caller: two records" "$(wc -l <"$T/json")" 2
	got=$(run_json --json-status-extended sh -c 'kill -KILL $$' 2>/dev/null)
	like "$caller: the signal, where asked for" "$(cat "$T/json")" '{ "child-pid": *
{ "command-pid": * }
{ "exit-code": 137, "signal": 9, "core-dumped": false }'
	is "$caller: a record only of what was executed" "$(run_json /no/such \
		2>/dev/null; grep -c exit-code "$T/json")" 0
	# The command's pid is the one that is outside.
	rm -f "$T"/cmd.*
	mkfifo "$T/cmd.in"
	[ "$caller" = root ] || [ "$(id -u)" != 0 ] || chown $user_id "$T/cmd.in"
	fd "3+$T/json,4=/dev/null" $all --proc /proc --unshare-pid \
		--json-status-fd 3 --json-status-extended cat <"$T/cmd.in" &
	exec 9>"$T/cmd.in"
	eventually "$caller: command-pid" grep -q command-pid "$T/json"
	is "$caller: ... is the command" "$(cat "/proc/$(sed -n \
		's/.*"command-pid": \([0-9]*\).*/\1/p' "$T/json")/comm")" cat
	exec 9>&-
	wait $!
	rm -f "$T/cmd.in"
}

# A parent that fails: the child sees it, and holds no pipe of the caller's.
failing() {
	bad "--info-fd that is not open" "--info-fd 99: Bad file descriptor" - $all \
		--info-fd 99 touch ran
	bad "--json-status-fd that is not open" "--json-status-fd 99: *" - $all \
		--json-status-fd 99 touch ran
	bad "--info-fd that is for reading" "*info*: Bad file descriptor" 3=/dev/null \
		--bind / / --info-fd 3 touch ran
	bad "--json-status-fd that is for reading" "*: Bad file descriptor" \
		3=/dev/null --bind / / --json-status-fd 3 touch ran
	bad "--info-fd that is full" "*: No space left on device" "3+/dev/full" \
		--bind / / --info-fd 3 touch ran
	bad "--userns2 of another" "Setting userns2 failed: *" \
		"3=/proc/self/ns/user" --bind / / --unshare-user --userns2 3 touch ran
	bad "--userns2 that is no namespace" "*: Invalid argument" \
		3=/dev/null --bind / / --userns2 3 touch ran
	bad "--block-fd that is not open" "--block-fd 99: *" - --bind / / \
		--block-fd 99 touch ran
	bad "--block-fd that cannot be read" "*--block-fd*: *" "3+$P/unread" \
		--bind / / --block-fd 3 touch ran
	own rm -f unread
	bad "--sync-fd that is not open" "--sync-fd 99: *" - --bind / / \
		--sync-fd 99 touch ran
	bad "--lock-file that is not there" "Unable to open lock file /no/such: *" - \
		--bind / / --lock-file /no/such touch ran
	own sh -c 'echo >locked'
	said=$(own "$aid" lock locked bwrap --bind / / --lock-file "$P/locked" \
		touch ran 2>&1)
	is "$caller: --lock-file that is locked" "$? $said" \
		"1 bwrap: Unable to lock lock file $P/locked: Resource temporarily unavailable"
	ok "$caller: ... and nothing runs" gone "$P/ran"
	own rm -f locked
}

demand_life() { dying; after; signals; records; failing; }
document_life() {
	documented "grandchildren" "Without -unshare-pid nothing is ended when the command ends, and -die-with-parent reaches the command but not what the command started."
	documented "background processes" "Processes that the command leaves in the background go on"
	documented "the thread" "means the process that started oc-bwrap , not its thread, and holds from the first moment."
	documented "nothing is left after an error" "After an error nothing is left running."
}
