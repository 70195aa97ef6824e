#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Exhaustion: what one command, and what all of the sandbox may take.
. "$srcdir"/tests/lib.sh
. "$srcdir"/tests/escape/escape.sh

low='--limit processes=40 --limit data=64M --limit file-size=1M
	--limit files=64 --limit signals=32 --limit messages=64K
	--limit locked=1M'
# Of the caller's no core file is to be the reason for there being none; and
# a program that takes them is not ours to start.
case $(cat /proc/sys/kernel/core_pattern) in
*/* | '|'* | @*) ;;
*) ulimit -c unlimited 2>/dev/null && corefile=1 ;;
esac

run() {
	# shellcheck disable=SC2086
	as "$who" "$oc" run --project "$project" $as_option "$@"
}

# CPU time is counted by process: a fork has its own. The deadline has not.
processor() {
	start=$(date +%s%3N)
	status "$mode: busy children end at the deadline (RES-10)" 124 \
		run --timeout 700ms -- sh -c \
		'for i in 1 2 3 4; do while :; do :; done & done; wait'
	took=$(($(date +%s%3N) - start))
	[ $took -lt 5000 ]
	is "$mode: in time" $? 0
	is "$mode: and without it they go on" "$(as "$who" timeout -s KILL 1 \
		sh -c 'while :; do :; done'; echo $?)" 137
}

# Bytes are cut exactly, and the sandbox is not held up by it.
output() {
	run --max-output 64K -- sh -c \
		'head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2' \
		>"$work/out" 2>"$work/err"
	is "$mode: output is cut (RES-13)" \
		"$? $(tr -d -c '\0' <"$work/out" | wc -c) $(tr -d '\0' \
		<"$work/out") $(tr -d -c '\0' <"$work/err" | wc -c)" \
		'0 65536 
[output truncated at 64K] 65536'
	run -- head -c 3000000 /dev/zero >"$work/out"
	is "$mode: and without a bound it is not" "$(wc -c <"$work/out")" \
		3000000
	rm -f "$work/out" "$work/err"
}

# The command ends; what holds its standard output open ends with it.
closed_output() {
	start=$(date +%s%3N)
	said=$(run -- sh -c 'sleep 30 & echo said' 2>&1)
	took=$(($(date +%s%3N) - start))
	[ $took -lt 5000 ]
	is "$mode: the end is the command's, not the pipe's (RES-15)" \
		"$said $?" 'said 0'
}

# Which bound does not hold is said.
unenforced() {
	# shellcheck disable=SC2086
	said=$(as "$who" sh -c 'exec "$@" 3>&1 >/dev/null' sh "$oc" run \
		--project "$project" --status-fd 3 $as_option -- true |
		sed -n 's/.*"unenforced": \(\[[^]]*\]\).*/\1/p')
	case $mode in
	keep) want='["processes"]' ;;
	*) want='[]' ;;
	esac
	is "$mode: bounds that do not hold are named (RES-01)" "$said" "$want"
}

for mode in $modes; do
	stage "$mode"
	options=$low params='processes=40'
	run_rows 'RES-0[12369]|RES-11|RES-16.(signals|queues)|RES-19|K-13'
	options='' params='bytes=4194304 inodes=400'
	run_rows 'RES-04|RES-08.(one|bytes|inodes)|RES-12|RES-16.(sem|msg)|RES-18'
	rm -f "$project"/core*
	params=
	processor
	output
	closed_output
	unenforced
done
finish
