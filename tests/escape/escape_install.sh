#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Nothing of this suite is installed, and what is installed has no switch that
# weakens it.
. "$srcdir"/tests/lib.sh

destdir=$work/installed
if [ ! -w "$top_builddir" ]; then
	echo '1..0 # SKIP the build directory is not ours to run make in'
	exit 0
fi
make -C "$top_builddir" install DESTDIR="$destdir" >"$work/said" 2>&1 || {
	fail 'make install' "$(tail -5 "$work/said")"
	done_testing
}
installed=$(find "$destdir" -name oc-nsrun -type f -perm -100)
ok 'oc-nsrun is installed' test -x "$installed"
is 'the programs of the suite are not' "$(find "$destdir" \( -name probe -o \
	-name aide -o -name weak -o -name 'checks.rows' -o -name 'escape*' \))" ''
# The control: the same search finds them where they were built.
is 'which the search would find' "$(find "$top_builddir/tests/escape" \
	-type f \( -name probe -o -name aide -o -name weak \) | wc -l)" 3
is 'no word of the weakened launcher is in what is' \
	"$(grep -rl 'no such weakness' "$destdir")" ''
ok 'which the search would find, too' grep -q 'no such weakness' \
	"$top_builddir/tests/escape/weak"
is 'nothing is set-user-ID or has capabilities' \
	"$(find "$destdir" -type f -perm /6000)" ''
for word in --weak --unsafe --no-filter --skip; do
	status "$word is no option" 125 "$installed" run $word filter -- true
done
done_testing
