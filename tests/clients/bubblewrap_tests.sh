#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# bubblewrap's own tests, from its source in $NSRUN_BUBBLEWRAP_SOURCE (0.8 or
# newer), as root and as an ordinary user. Three of their expectations are not
# ours, see DIFFERENCES in oc-bwrap(1): mount points that stay on the host,
# and what a uid-0 caller's command has without --cap-add.
. "${srcdir:?}"/tests/lib.sh
. "$srcdir"/tests/clients/clients.sh
source=${NSRUN_BUBBLEWRAP_SOURCE:-/nonexistent}
[ -f "$source/tests/test-run.sh" ] ||
	skip_all "no bubblewrap in \$NSRUN_BUBBLEWRAP_SOURCE"
for program in bash capsh cc python3; do
	command -v $program >/dev/null || skip_all "no $program"
done

cp -r "$source/tests" "$work/tests" && mkdir "$work/build" "$work/build/tests" &&
	cc -w -o "$work/build/tests/try-syscall" "$work/tests/try-syscall.c" || exit 99
ln -s "$bwrap" "$work/build/bwrap"
sed -i -e '/^command stat -c .%a. new-dir-mountpoint/,/^assert_file_has_content new-file-permissions/d' \
	-e 's/^\( *\)diff -u caps.expected caps.test/\1:/' \
	-e 's/\$OPT --cap-drop CAP_KILL/$OPT --cap-add ALL --cap-drop CAP_KILL/' \
	"$work/tests/test-run.sh"
chmod -R a+rX "$work/tests" "$work/build"

limit=300
for caller in $callers; do
	for t in test-run.sh test-specifying-pidns.sh test-specifying-userns.sh test-seccomp.py; do
		[ -f "$work/tests/$t" ] || continue
		case $t in
		*.py) shell=/usr/bin/python3	# the distribution's has its modules
			$shell -c 'import seccomp' 2>/dev/null ||
				{ skip "$caller: $t" "no python3-seccomp"; continue; };;
		*) shell=bash;;
		esac
		client "$caller" mkdir "$t.dir"
		client "$caller" env BWRAP="$bwrap" BWRAP_MUST_WORK=1 G_TEST_SRCDIR="$work" \
			G_TEST_BUILDDIR="$work/build" sh -c 'cd "$1.dir" && exec "$2" "$3/tests/$1"' \
			_ "$t" $shell "$work" >"$work/log" 2>"$work/err" </dev/null
		is "$caller: $t" "$? $(grep -c '^not ok' "$work/log")" "0 0"
		grep -q '^ok' "$work/log" || fail "$caller: $t: ran" "no result"
		! grep -q '^not ok' "$work/log" || diag "$(tail -n 30 "$work/err")"
	done
done
leaves_nothing
done_testing
