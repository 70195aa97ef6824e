#!/bin/sh
# Cgroups of a jail: what is written, that it holds, and that nothing stays. Of
# v1 where its controllers are mounted, of v2 wherever a cgroup2 is, and its
# limits where it has controllers. Root makes the directories for both callers.
. "${srcdir:?}"/tests/lib.sh
need_sandbox
[ "$(id -u)" = 0 ] || {
	echo "1..0 # SKIP only root can give a cgroup to this test"; exit 0; }
cp "$top_builddir"/nsjail-compat/oc-nsjail "$work"/jail || exit 99
parent=nsrun-test.$$
made='' top='' switched=''
# The last processes leave when they are reaped.
clean() {
	for dir in $made; do
		for _ in $(seq 50); do
			rmdir "$dir"/*/ 2>/dev/null
			rmdir "$dir" 2>/dev/null && break
			sleep 0.1
		done
	done
	[ -z "$switched" ] || echo $switched >"$top"/cgroup.subtree_control
	cleanup
}
trap clean EXIT

# point CONTROLLER: where it is mounted, of v1
point() {
	awk -v c="$1" '$3 == "cgroup" && index("," $4 ",", "," c ",") {
		print $2; exit }' /proc/mounts
}
# jail CALLER ARG...: $said, $rc; in $home_dir if that is said
jail() {
	caller_is=$1; shift
	said=$(
		[ -z "${home_dir:-}" ] || echo 0 >"$home_dir"/cgroup.procs
		as $caller_is timeout -s KILL 100 "$work"/jail -q -c / \
			--rlimit_as inf --rlimit_fsize inf "$@" 2>&1
	)
	rc=$?
	said=$(printf '%s\n' "$said" | grep -v 'the caller is root')
}
# left DIR...: our jails' directories there
left() { find "$@" -mindepth 1 -maxdepth 1 -name 'NSJAIL*' 2>/dev/null; }
# killed CALLER DIR ARG...: is nothing left when oc-nsjail is killed?
killed() {
	who=$1 at=$2; shift 2
	rm -f "$work/$who/out"
	(
		[ -z "${home_dir:-}" ] || echo 0 >"$home_dir"/cgroup.procs
		as $who sh -c 'echo $$ >"$0"; exec "$@"' "$work/$who/pid" \
			"$work"/jail -Q -c / "$@" -- /bin/sh -c \
			'echo in; exec sleep 100' >"$work/$who/out" 2>&1
	) &
	shell=$!
	eventually "$who: it runs" grep -q in "$work/$who/out"
	unlike "$who: in a cgroup" "$(left "$at")" ""
	kill -KILL "$(cat "$work/$who/pid")"
	wait $shell 2>/dev/null
	eventually "$who: we are killed, and nothing is left" \
		sh -c 'test -z "$(find "$1" -name "NSJAIL*")"' sh "$at"
}

memory=$(point memory) pids=$(point pids) cpu=$(point cpu)
if [ -n "$memory" ] && [ -n "$pids" ] && [ -n "$cpu" ]; then
	for dir in "$memory" "$pids" "$cpu"; do
		mkdir "$dir/$parent" && made="$made $dir/$parent"
	done
	memory=$memory/$parent pids=$pids/$parent cpu=$cpu/$parent
fi
v1="--cgroup_mem_parent $parent --cgroup_pids_parent $parent
	--cgroup_cpu_parent $parent --cgroup_mem_mount ${memory%/*}
	--cgroup_pids_mount ${pids%/*} --cgroup_cpu_mount ${cpu%/*}"
for caller in $callers; do
	[ -n "$made" ] || { skip "$caller: v1" "not mounted here"; continue; }
	[ $caller = root ] || chown $user_id $made
	# shellcheck disable=SC2086
	jail $caller $v1 --cgroup_mem_max 67108864 --cgroup_pids_max 7 \
		--cgroup_cpu_ms_per_sec 500 -- /bin/sh -c "
		cat $memory/NSJAIL.*/memory.limit_in_bytes \
			$pids/NSJAIL.*/pids.max $cpu/NSJAIL.*/cpu.cfs_quota_us \
			$cpu/NSJAIL.*/cpu.cfs_period_us
		grep -c '^1\$' $memory/NSJAIL.*/tasks
		grep -o 'pids:.*NSJAIL' /proc/self/cgroup"
	set -- $said
	is "$caller: v1: what is written" "$1 $2 $3 $4" "67108864 7 500000 1000000"
	is "$caller: v1: the jail is in it" "$6 $rc" "pids:/$parent/NSJAIL 0"
	# shellcheck disable=SC2086
	is "$caller: v1: and is not, afterwards" "$(left $made)" ""
	if [ -e "$memory"/memory.memsw.limit_in_bytes ]; then
		jail $caller $v1 --cgroup_mem_max 4194304 \
			--cgroup_mem_swap_max 1048576 -- /bin/sh -c \
			"cat $memory/NSJAIL.*/memory.memsw.limit_in_bytes"
		is "$caller: v1: swap is on top of memory" "$said" 5242880
		jail $caller $v1 --cgroup_mem_max 4194304 \
			--cgroup_mem_memsw_max 6291456 -- /bin/sh -c \
			"cat $memory/NSJAIL.*/memory.memsw.limit_in_bytes"
		is "$caller: v1: or said as both" "$said" 6291456
	else
		skip "$caller: v1: swap" "the kernel does not account it"
	fi
	jail $caller $v1 --cgroup_pids_max 3 -- /bin/sh -c \
		'sleep 1 & sleep 1 & sleep 1 & wait'
	like "$caller: v1: processes" "$said $rc" "*Cannot fork*2"
	jail $caller $v1 --cgroup_mem_max 16777216 -- /bin/sh -c \
		'exec tail /dev/zero'
	is "$caller: v1: memory" $rc 137
	jail $caller $v1 --cgroup_mem_max 16777216 -- /bin/sh -c \
		'tail /dev/zero; echo then $?'
	like "$caller: v1: others go on" "$said" "*then 137*"
	jail $caller $v1 --cgroup_pids_max 9 -- /no/such/file
	is "$caller: v1: a command that is not there" "$rc" 255
	if [ $caller = root ]; then
		jail $caller $v1 --cgroup_pids_max 9 --disable_clone_newpid \
			--disable_proc -- /bin/sh -c \
			'setsid sleep 100 >/dev/null 2>&1 & sleep 0.2'
		is "$caller: v1: without a pid namespace" "$rc" 0
		is "$caller: v1: nothing goes on" \
			"$(cat "$pids"/NSJAIL*/tasks 2>/dev/null)" ""
	fi
	# shellcheck disable=SC2086
	is "$caller: v1: nothing is left" "$(left $made)" ""
	killed $caller "$pids" $v1 --cgroup_pids_max 9
	# One after the other, each with its own.
	as $caller sh -c 'echo $$ >"$0"; exec "$@"' "$work/$caller/pid" \
		"$work"/jail -Q -c / -Mr $v1 --cgroup_pids_max 9 -- \
		/bin/sh -c 'echo in; exec sleep 0.1' >"$work/$caller/out" 2>&1 &
	shell=$!
	eventually "$caller: v1: again and again" sh -c \
		'test "$(wc -l <"$1")" -ge 3' sh "$work/$caller/out"
	kill "$(cat "$work/$caller/pid")"
	wait $shell
	is "$caller: v1: until SIGTERM, and nothing is left" \
		"$? $(left "$pids")" "143 "
done
jail user --cgroup_pids_max 9 --cgroup_pids_parent none.$$ -- /bin/true
like "v1: a parent that is not there" "$said $rc" \
	"*no such directory of cgroup v1*--use_cgroupv2*255"

# refused WHAT PATTERN ARG...
refused() {
	what=$1 pattern=$2; shift 2
	jail user "$@" -- /bin/true
	is "$what: 255" $rc 255
	like "$what: why" "$said" "$pattern"
}
refused "memory and swap, said twice" "*goes with no cgroup_mem_swap_max*" \
	--cgroup_mem_max 9 --cgroup_mem_memsw_max 10 --cgroup_mem_swap_max 1
refused "less of both than of one" "*is less than cgroup_mem_max*" \
	--cgroup_mem_max 10 --cgroup_mem_memsw_max 9
refused "v1: swap alone" "*takes a cgroup_mem_max*" --cgroup_mem_swap_max 1
refused "v2: a class" "*is of cgroup v1*" \
	--use_cgroupv2 --cgroup_net_cls_classid 1
refused "v2: not a cgroup2" "*is not a directory of a cgroup2*" \
	--use_cgroupv2 --cgroupv2_mount / --cgroup_pids_max 9
refused "detected: not v2" "*no such directory of cgroup v1*" \
	--detect_cgroupv2 --cgroupv2_mount / --cgroup_pids_max 9 \
	--cgroup_pids_parent none.$$

top=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
base=$top/$parent
if [ -z "$top" ] || ! mkdir "$base" 2>/dev/null; then
	skip "v2" "no cgroup2 that can be written"
	done_testing
fi
made="$made $base"
given=$(cat "$top"/cgroup.subtree_control)
for controller in memory pids cpu; do
	case " $given " in *" $controller "*) continue ;; esac
	echo "+$controller" >"$top/cgroup.subtree_control" &&
		switched="$switched -$controller"
done 2>/dev/null
have=$(cat "$base"/cgroup.controllers)
has() { case " $have " in *" $1 "*) true ;; *) false ;; esac; }
mkdir "$base"/own
home_dir=$base/own
for caller in $callers; do
	[ $caller = root ] || chown $user_id "$base" "$base"/cgroup.* \
		"$base"/own "$base"/own/cgroup.*
	v2="--use_cgroupv2 --cgroupv2_mount $base"
	if ! has pids; then
		jail $caller $v2 --cgroup_pids_max 9 -- /bin/true
		like "$caller: v2: no controller" "$said $rc" \
			"*$base -> pids: is not given to us*255"
		is "$caller: v2: nothing is left" "$(left "$base")" ""
		skip "$caller: v2: limits" "no controllers in $top"
		continue
	fi
	jail $caller $v2 --cgroup_mem_max 67108864 --cgroup_pids_max 7 \
		--cgroup_mem_memsw_max 67112960 --cgroup_cpu_ms_per_sec 500 -- \
		/bin/sh -c "cd $base/NSJAIL.*; cat memory.max pids.max cpu.max
		cat memory.swap.max; grep ^0: /proc/self/cgroup"
	is "$caller: v2: what is written, and the jail is born there" \
		"$(echo $said)" "67108864 7 500000 1000000 4096 0::/"
	is "$caller: v2: nothing is left" "$(left "$base") $rc" " 0"
	if [ $caller = user ]; then
		jail user --use_cgroupv2 --cgroup_pids_max 7 -- /bin/sh -c \
			"cat $base/NSJAIL.*/pids.max"
		is "user: v2: what is delegated is found" "$said" 7
		jail user --detect_cgroupv2 --cgroupv2_mount "$base" \
			--cgroup_pids_max 7 -- /bin/sh -c \
			"cat $base/NSJAIL.*/pids.max"
		is "user: v2: is detected" "$said" 7
	fi
	jail $caller $v2 --cgroup_pids_max 3 -- /bin/sh -c \
		'sleep 1 & sleep 1 & sleep 1 & wait'
	like "$caller: v2: processes" "$said $rc" "*Cannot fork*2"
	jail $caller $v2 --cgroup_mem_max 16777216 --cgroup_mem_swap_max 0 -- \
		/bin/sh -c 'exec tail /dev/zero'
	is "$caller: v2: memory" $rc 137
	jail $caller $v2 --cgroup_mem_max 16777216 --cgroup_mem_swap_max 0 -- \
		/bin/sh -c 'tail /dev/zero; echo then $?'
	like "$caller: v2: others go on" "$said" "*then 137*"
	# In the base itself, alone: we step aside, and back.
	echo -memory -pids -cpu >"$base"/cgroup.subtree_control
	drop=
	[ $caller = root ] || drop="setpriv --reuid $user_id --regid $user_id
		--clear-groups --inh-caps=-all"
	# shellcheck disable=SC2086
	said=$(sh -c 'cd / && echo 0 >"$0"/cgroup.procs && exec "$@"' "$base" \
		$drop "$work"/jail -q -c / $v2 --cgroup_pids_max 7 -- \
		/bin/sh -c "ls -d $base/NSJAIL_SELF.*" 2>&1; echo "= $?")
	like "$caller: v2: we step aside" "$said" "*/NSJAIL_SELF.*= 0"
	is "$caller: v2: none of it is left" "$(left "$base")" ""
	killed $caller "$base" $v2 --cgroup_pids_max 9
done
done_testing
