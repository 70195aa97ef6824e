#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The kernel's interface: namespaces, the filter, mounts, its dark corners.
. "$srcdir"/tests/lib.sh
. "$srcdir"/tests/escape/escape.sh

# A filter that the kernel does not take: nothing runs without one.
bad_filter() {
	launch badfilter touch "$project/ran" 2>"$work/said"
	rc=$?
	[ ! -e "$project/ran" ]
	is "$mode: a filter that does not load (SEC-12)" "$rc $?" '125 0'
	like "$mode: and why" "$(cat "$work/said")" '*filter*seccomp*'
	launch filter touch "$project/ran"
	[ -e "$project/ran" ]
	is "$mode: while with one that does" $? 0
	rm -f "$project/ran"
}

# What the kernel has loaded is, byte for byte, what the status names.
loaded_filter() {
	[ "$(id -u)" = 0 ] || return
	# shellcheck disable=SC2086
	as "$who" sh -c 'exec "$@" 9>"$0"' "$dir/log/status" "$oc" run \
		--project "$project" --status-fd 9 --network "$net" \
		$as_option -- sleep 9 </dev/null >/dev/null 2>&1 &
	job=$!
	for _ in $(seq 250); do
		pid=$(sed -n 's/.*"started", "pid": \([0-9]*\).*/\1/p' \
			"$dir/log/status" 2>/dev/null)
		[ -n "$pid" ] && break
		sleep 0.02
	done
	want=$(grep -o '"sha256": "[0-9a-f]*"' "$dir/log/status" |
		cut -d'"' -f 4 | sort | tr '\n' ' ')
	got='' n=0
	while "$aide" filter "$pid" $n >"$work/filter" 2>"$work/err"; do
		got="$got$(sha256sum <"$work/filter" | cut -c -64)
"
		n=$((n + 1))
	done
	kill "$job"
	wait "$job"
	rm -f "$dir/log/status"
	if [ -z "$got" ] && grep -q PTRACE "$work/err"; then
		skip "$mode $net: the filter (SEC-13)" "$(cat "$work/err")"
	else
		is "$mode $net: the loaded filter is the named one (SEC-13)" \
			"$(echo "$got" | sort | tr -s '\n' ' ')" " $want"
	fi
}

# A sandbox within the sandbox fails at once, and says so.
nested() {
	cp "$oc" "$project/oc-nsrun" && own "$project/oc-nsrun"
	for command in "unshare -U true" "unshare -r -m true" \
	    "$project/oc-nsrun run -- true" "bwrap --ro-bind / / true"; do
		[ -e "${command%% *}" ] || command -v "${command%% *}" \
			>/dev/null || continue
		# shellcheck disable=SC2086
		launch sandbox timeout 10 $command >"$work/said" 2>&1
		case $? in
		0 | 124 | 139) fail "$mode: nested: $command (NS-05)" \
			"$(cat "$work/said")" ;;
		*) pass "$mode: nested: ${command##*/} fails (NS-05)" ;;
		esac
	done
	ok "$mode: and outside it works" launch outside unshare -U true
	rm "$project/oc-nsrun"
}

for mode in $modes; do
	stage "$mode"
	for net in denied isolated; do
		run_rows 'NS-|SEC-|K-0|MNT-0[1-4]|MNT-22'
		loaded_filter
	done
	bad_filter
	nested
done
finish
