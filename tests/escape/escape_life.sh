#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Survivors: whatever dies first, nothing of the sandbox outlives it. Processes
# are counted by a word of their argv; signals go to pids we started.
. "$srcdir"/tests/lib.sh
. "$srcdir"/tests/escape/escape.sh

serial=0

# run OPTION... -- CMD, replacing the shell: `run ... &` leaves its pid in $!
run() {
	# shellcheck disable=SC2086
	as "$who" "$aide" plain -- "$oc" run --project "$project" $as_option \
		"$@"
}

mark() {
	serial=$((serial + 1))
	mark=escape-$$-$serial
	# From a file, for grep is a process too.
	echo "$mark-in" >"$work/pattern"
	rm -f "$dir/log/ready"
}

# How many of the marked are alive?
count() {
	cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n' |
		grep -c -x -f "$work/pattern"
}

# wait_count N: within five seconds; leaves the last count in $alive
wait_count() {
	for _ in $(seq 250); do
		alive=$(count)
		[ "$alive" = "$1" ] && return
		sleep 0.02
	done
	return 1
}

# Twenty that ignore what can be ignored, and left everything they came from.
start_daemons() {
	mark
	run -- "$project/aide" daemons 20 "$mark" 60 </dev/null \
		>"$dir/log/ready" 2>&1 &
	helper=$!
	for _ in $(seq 250); do
		[ -s "$dir/log/ready" ] && break
		sleep 0.02
	done
	wait_count 20
	is "$mode: $1: twenty daemons live" "$alive" 20
}

# The pid of oc-nsrun below $helper: `as` may stand between.
own_helper() {
	while [ "$(cat "/proc/$helper/comm" 2>/dev/null)" != oc-nsrun ]; do
		child=$(cat "/proc/$helper/task/$helper/children" 2>/dev/null)
		[ -n "$child" ] || break
		helper=${child%% *}
	done
}

killed_by() {
	start_daemons "SIG$1"
	job=$helper
	own_helper
	kill -"$1" "$helper"
	wait "$job" 2>/dev/null
	rc=$?
	wait_count 0
	is "$mode: SIG$1 to the helper: no survivor (LIFE-01, 02)" "$alive" 0
	is "$mode: SIG$1: the status" "$rc" "$2"
}

# The control: the same daemons under something that is no sandbox.
outside_survive() {
	mark
	# shellcheck disable=SC2016
	as "$who" sh -c '"$@"' sh "$project/aide" daemons 3 "$mark" 0 \
		</dev/null >/dev/null 2>&1
	wait_count 3
	is "$mode: outside they survive" "$alive" 3
	for pid in $(grep -l -a -z -x -f "$work/pattern" \
	    /proc/[0-9]*/cmdline 2>/dev/null | cut -d/ -f 3); do
		kill -KILL "$pid"
	done
	wait_count 0
	is "$mode: until they are killed one by one" "$alive" 0
}

# A stopped supervisor cannot act: pid 1 sees the caller's end itself.
stopped_helper() {
	mark
	# shellcheck disable=SC2016,SC2086
	as "$who" sh -c 'echo $$ >"$0.parent"; "$@" >"$0" & echo $! >"$0.helper"
		wait' "$dir/log/ready" "$oc" run --project "$project" \
		$as_option -- "$project/aide" daemons 20 "$mark" 60 \
		</dev/null >/dev/null 2>&1 &
	job=$!
	wait_count 20
	is "$mode: stopped helper: twenty daemons live" "$alive" 20
	helper=$(cat "$dir/log/ready.helper")
	kill -STOP "$helper"
	kill -KILL "$(cat "$dir/log/ready.parent")"
	wait $job 2>/dev/null
	wait_count 0
	is "$mode: SIGSTOP to it, SIGKILL to its parent: none (LIFE-03)" \
		"$alive" 0
	kill -KILL "$helper" 2>/dev/null
}

# Pid 1 dies: the kernel takes the rest along, and the helper reports it.
killed_init() {
	mark
	run --status-fd 9 -- "$project/aide" daemons 20 "$mark" 60 </dev/null \
		9>"$dir/log/status" >/dev/null 2>&1 &
	job=$!
	wait_count 20
	pid=$(sed -n 's/.*"started", "pid": \([0-9]*\).*/\1/p' \
		"$dir/log/status")
	kill -KILL "$pid"
	wait $job
	rc=$?
	wait_count 0
	is "$mode: SIGKILL to pid 1: no survivor (NS-11)" "$alive $rc" '0 137'
}

# The command ends by itself, its daemons with it.
command_ends() {
	mark
	run -- "$project/aide" daemons 20 "$mark" 0 </dev/null >/dev/null 2>&1
	rc=$?
	wait_count 0
	is "$mode: the command ends: no survivor (LIFE-06, 10)" "$alive $rc" \
		'0 0'
}

# The thread that started it ends, its process does not.
thread_ends() {
	# shellcheck disable=SC2086
	is "$mode: the launching thread ends: it goes on (LIFE-04)" \
		"$(as "$who" "$aide" thread 700 -- "$oc" run --project \
		"$project" $as_option -- sleep 30)" alive
	is "$mode: while with PDEATHSIG" "$(as "$who" "$aide" thread 700 -- \
		setpriv --pdeathsig KILL sleep 30)" dead
}

# Killed at any moment of the set-up: nobody lives, and whoever ran was
# confined already.
random_death() {
	mark
	: >"$project/confined"
	own "$project/confined" && chmod 666 "$project/confined"
	# shellcheck disable=SC2086
	as "$who" "$aide" random 100 10000 -- "$oc" run --project "$project" \
		$as_option -- "$project/aide" confined "$project/confined" \
		</dev/null >/dev/null 2>&1
	ran=$(grep -c . "$project/confined")
	diag "$mode: $ran of 100 got as far as the command"
	is "$mode: killed while it is set up: none half confined (LIFE-05, 12)" \
		"$(sort -u "$project/confined" | grep -v '^confined$')" ''
	as "$who" "$project/aide" confined "$project/outside"
	unlike "$mode: outside that is seen" "$(cat "$project/outside")" \
		confined
	rm -f "$project/confined" "$project/outside"
	# shellcheck disable=SC2086
	as "$who" "$aide" random 100 10000 -- "$oc" run --project "$project" \
		$as_option -- "$project/aide" pause "$mark-in" \
		</dev/null >/dev/null 2>&1
	wait_count 0
	is "$mode: and no survivor" "$alive" 0
}

storms() {
	status "$mode: a storm of orphans, and the status (LIFE-07)" 7 \
		run -- "$project/aide" zombies 3000
	for row in 'exit 0:0' 'exit 1:1' 'exit 255:255' 'kill -KILL $$:137' \
	    'kill -SEGV $$:139' 'kill -SYS $$:159' 'kill -TERM $$:143' \
	    'exit 124:124'; do
		status "$mode: ${row%:*} (LIFE-08)" "${row##*:}" \
			run -- sh -c "${row%:*}"
	done
}

# Counts before and after many launches, in one process and in many.
soak() {
	# shellcheck disable=SC2086
	is "$mode: $1 launches by one process leave nothing (LIFE-14)" \
		"$(as "$who" "$weak" --times "$1" --project "$project" \
		$as_option -- true 2>&1)" "$1 launches, 0 more descriptors, 0 children"
	before=$(wc -l </proc/self/mountinfo)
	mark
	n=0
	while [ $n -lt 100 ]; do
		n=$((n + 1))
		run -- sh -c ': "$0"; exit 3' "$mark-in" </dev/null &
		jobs="${jobs-} $!"
	done
	good=0
	for job in $jobs; do
		wait "$job"
		[ $? = 3 ] && good=$((good + 1))
	done
	jobs=
	is "$mode: 100 at once" "$good" 100
	wait_count 0
	is "$mode: mounts and processes are as before" \
		"$(wc -l </proc/self/mountinfo) $alive" "$before 0"
}

for mode in $modes; do
	stage "$mode"
	killed_by KILL 137
	killed_by TERM 143
	killed_by INT 130
	killed_by HUP 129
	killed_by QUIT 131
	outside_survive
	stopped_helper
	killed_init
	command_ends
	thread_ends
	random_death
	storms
	soak "${ESCAPE_LAUNCHES-300}"
done
finish
