#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# bubblewrap's own tests, from its source in $NSRUN_BUBBLEWRAP_SOURCE (0.8 or
# newer), as root and as an ordinary user. Some of their expectations are not
# ours, see DIFFERENCES in oc-bwrap(1): mount points that stay on the host,
# what a uid-0 caller's command has without --cap-add, and of 0.12, whose
# command line is not the one we have, that a destination may be no link.
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
# 0.12's test-sandbox.py reads itself inside, where /tmp is another. It gives
# statfs(2) a buffer of two words, and would die of that.
apart=$work/tests
if [ -f "$source/tests/test-sandbox.py" ]; then
	apart=$(mktemp -d /var/tmp/nsrun-bubblewrap.XXXXXX) || exit 99
	trap 'rm -rf "$apart"; cleanup' EXIT
	chmod 755 "$apart" && cp "$source"/tests/*.py "$apart" && sed -i \
		"s/('f_bsize', ctypes.c_long)\]/('f_bsize', ctypes.c_long), ('rest', ctypes.c_long * 16)]/" \
		"$apart/test-sandbox.py" || exit 99
fi
# What it says of 0.12 alone: those links, and two messages.
newer="test_bind_dir_over_existing_file test_bind_fd_to_symlink_dest_fails \
test_bind_file_over_existing_dir test_bind_to_symlink_dest_fails \
test_bind_to_symlink_dest_fails_file"
chmod -R a+rX "$work/tests" "$work/build" "$apart"

limit=300
for caller in $callers; do
	for t in test-run.sh test-specifying-pidns.sh test-specifying-userns.sh \
		test-specifying-netns.sh test-forward-signals.sh test-seccomp.py test-sandbox.py; do
		[ -f "$work/tests/$t" ] || continue
		shell=bash status=0 differs= place=$work/tests
		case $t in
		*.py) shell=/usr/bin/python3;;	# the distribution's has its modules
		esac
		case $t in
		test-seccomp.py) $shell -c 'import seccomp' 2>/dev/null ||
			{ skip "$caller: $t" "no python3-seccomp"; continue; };;
		test-sandbox.py) [ -x $shell ] ||
			{ skip "$caller: $t" "no $shell"; continue; }
			status=1 differs=$newer place=$apart;;
		esac
		client "$caller" mkdir "$t.dir"
		client "$caller" env BWRAP="$bwrap" BWRAP_MUST_WORK=1 PYTHONDONTWRITEBYTECODE=1 G_TEST_SRCDIR="$work" \
			G_TEST_BUILDDIR="$work/build" sh -c 'cd "$1.dir" && exec "$2" "$3/$1"' \
			_ "$t" $shell "$place" >"$work/log" 2>"$work/err" </dev/null
		is "$caller: $t" "$? $(sed -n 's/^not ok [0-9]* //p' "$work/log" |
			tr '\n' ' ')" "$status ${differs:+$differs }"
		grep -q '^ok' "$work/log" || fail "$caller: $t: ran" "no result"
		! grep -q '^not ok' "$work/log" || [ "$differs" ] || diag "$(tail -n 30 "$work/err")"
	done
done
leaves_nothing
done_testing
