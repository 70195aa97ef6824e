#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The network, and local sockets and IPC of others.
. "$srcdir"/tests/lib.sh
. "$srcdir"/tests/escape/escape.sh

# A descriptor that is sent along on standard input does not arrive (NET-08).
descriptors_by_socket() {
	for place in sandbox stdio; do
		got=$(launch_with_socket $place | cut -d' ' -f 1-3)
		case $place in
		sandbox) want='NET-08.receive blocked ENOTSOCK' ;;
		*) want='NET-08.receive open -' ;;
		esac
		is "$mode $net NET-08.receive in $place" "$got" "$want"
	done
}

launch_with_socket() {
	if [ "$1" = sandbox ]; then
		set -- "$oc" run
	else
		set -- "$weak" --weak stdio
	fi
	# shellcheck disable=SC2086
	as "$who" "$aide" stdin socket - -- "$@" --project "$project" \
		--network $net $as_option -- "$project/probe" NET-08.receive \
		2>&1
}

for mode in $modes; do
	stage "$mode"
	for net in denied isolated; do
		run_rows 'NET-|K-11'
		descriptors_by_socket
	done
	for kind in tcp udp unix; do
		sentinel_saw $kind
	done
done
finish
