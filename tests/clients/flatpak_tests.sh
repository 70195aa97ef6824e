#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# flatpak's own tests, where the distribution has them installed (Debian:
# flatpak-tests): those that have most to do with bwrap. They are run as an
# ordinary user, as flatpak's developers do.
. "${srcdir:?}"/tests/lib.sh
. "$srcdir"/tests/clients/clients.sh
: "${FLATPAK_TESTS:=test-run-custom test-seccomp test-run}"
suite=/usr/libexec/installed-tests/Flatpak
[ -x $suite/test-run.sh ] || skip_all "no flatpak-tests"
for program in flatpak dbus-run-session bash ostree socat; do
	command -v $program >/dev/null || skip_all "no $program"
done
if [ "$(id -u)" != 0 ] && ! getent passwd "$(id -u)" >/dev/null; then
	skip_all "dbus-daemon wants an entry in /etc/passwd"
fi

# All at once. They want to be started in an empty directory and make what they
# need in /tmp, from where they take it away themselves, unless they are killed.
limit=180
for t in $FLATPAK_TESTS; do
	client user mkdir "$t"
	(known_client user timeout -k 5 150 env FLATPAK_BWRAP="$bwrap" G_TEST_SRCDIR=$suite \
		G_TEST_BUILDDIR=$suite sh -c 'cd "$1" && exec "$2/$1.sh"' _ "$t" $suite \
		>"$work/$t.log" 2>&1; echo $? >"$work/$t.rc") &
done
wait
# Only what was ours: another run of these tests may be under way.
grep -oh '/tmp/test-flatpak-[A-Za-z0-9]*' "$work"/*.log | sort -u | xargs -r rm -rf
for t in $FLATPAK_TESTS; do
	planned=$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p' "$work/$t.log" | head -n 1)
	# "Cannot run bwrap" is no reason here.
	if grep '^1\.\.0' "$work/$t.log" | grep -qv bwrap; then
		skip "$t" "$(grep '^1\.\.0' "$work/$t.log")"
		continue
	fi
	passed=$(grep -c '^ok' "$work/$t.log")
	is "$t: $planned tests" "$(cat "$work/$t.rc") $passed" "0 ${planned#0}"
	[ "$passed" != 0 ] && [ "$passed" = "$planned" ] || diag "$(tail -n 30 "$work/$t.log")"
done
leaves_nothing
done_testing
