#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# --nesting allow and cgroups: inner root can mount cgroup2, and must reach no
# limit of its scope, nor the cgroup of the caller. Root makes the directory.
. "${srcdir:?}"/tests/lib.sh
need_sandbox
skip_all() { echo "1..0 # SKIP $1"; exit 0; }
[ "$(id -u)" = 0 ] || skip_all "only root can delegate a cgroup to this test"
top=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
[ "$top" ] || skip_all "no cgroup2 file system is mounted"
base=$top/nsrun-nest.$$
mkdir "$base" "$base"/own 2>/dev/null || skip_all "$top cannot be written"
clean() {
	for _ in $(seq 50); do rmdir "$base"/own "$base" 2>/dev/null; [ -d "$base" ] || break; sleep 0.1; done
	cleanup
}
trap clean EXIT
chown $user_id "$base" "$base"/cgroup.* "$base"/own "$base"/own/cgroup.*
# run OPTION... -- CMD: as the user, from a cgroup of its own
run() { (echo 0 >"$base"/own/cgroup.procs || exit 99; as user "$oc" run --stdin null --nesting allow "$@"); }
look='mount -t cgroup2 none /tmp || exit 9; ls /tmp | grep -v "^cgroup\|\.pressure$\|\.stat\(.local\)*$"
	cat /proc/self/cgroup | grep ^0; mkdir /tmp/sub 2>/dev/null && echo made
	ls -d /tmp/oc-nsrun* /tmp/own 2>/dev/null; cat /tmp/cgroup.procs | grep -c "^[1-9]"'

is "a scope: inner root sees no limit of it, and makes none" "$(run --cgroup "$base" -- unshare -UrpfmC --mount-proc sh -c "$look" 2>&1 |
	sed 's/^[1-9][0-9]*$/N/')" "0::/
N"
eventually "... and nothing is left" sh -c '! ls -d "$1"/oc-nsrun*' _ "$base"
run --cgroup "$base" -- sh -c 'sleep 543.5 & sleep 543.5 & kill -9 $$'
gone() { [ -z "$(running 'sleep 543.5')" ] && ! ls -d "$base"/oc-nsrun*; }
eventually "... of one that was killed neither" gone
said=$(run --cgroup off -- true 2>&1); rc=$?
case $(awk '$3 == "cgroup2" { print $4; exit }' /proc/mounts) in
*nsdelegate*) is "no scope: nsdelegate keeps the caller's" $rc 0 ;;
*) like "no scope: the caller's own is refused" "$rc $said" "125 oc-nsrun: cgroup the caller's cgroup: could be controlled*--cgroup require*" ;;
esac
is "one of somebody else's is no matter" "$(as user "$oc" run --cgroup off --nesting allow -- echo ok 2>&1)" ok
done_testing
