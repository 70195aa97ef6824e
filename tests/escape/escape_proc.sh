#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# /proc, devices, and other processes.
. "$srcdir"/tests/lib.sh
. "$srcdir"/tests/escape/escape.sh

# Exit at the deadline even when everything inside is stopped.
stopped() {
	# shellcheck disable=SC2016
	set -- sh -c 'sleep 99 & kill -STOP $!; kill -STOP $$'
	# shellcheck disable=SC2086
	status "$mode: all is stopped, the deadline ends it (XP-09)" 124 \
		as "$who" timeout -s KILL 10 "$oc" run --project "$project" \
		$as_option --timeout 500ms -- "$@"
	# shellcheck disable=SC2086
	as "$who" timeout -s KILL 1 "$oc" run --project "$project" \
		$as_option --timeout none -- "$@" 2>/dev/null
	is "$mode: which without one lasts" $? 137
}

# kill(-1) takes everything inside, and nothing else.
kill_all() {
	# shellcheck disable=SC2016
	said=$(launch sandbox sh -c \
		'sleep 99 & kill -KILL -1; wait $!; echo $?' 2>/dev/null)
	is "$mode: kill -1 takes what is inside (XP-06)" "$said" 137
	ok "$mode: and nothing outside" kill -0 "$(sed -n 's/^sentinel=//p' \
		"$dir/log/facts")"
}

for mode in $modes; do
	stage "$mode"
	for net in denied isolated; do
		run_rows 'PROC-|DEV-|XP-|FS-12'
	done
	sentinel_saw 'signal 10'
	kill_all
	stopped
done
finish
