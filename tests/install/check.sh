#!/bin/sh
# make installcheck: what is installed is what a host and an operator need, and
# nothing of the tests; the example builds against it and runs.
# check.sh SRCDIR BINDIR LIBDIR INCLUDEDIR MANDIR APPARMORDIR CC
set -eu
srcdir=$1 bindir=$2 libdir=$3 includedir=$4 mandir=$5 apparmordir=$6 cc=$7
fail() { echo "installcheck: $*" >&2; exit 1; }

for file in "$bindir/oc-nsrun" "$bindir/oc-bwrap" "$bindir/oc-nsjail" "$libdir/libnsrun.so" "$libdir/pkgconfig/nsrun.pc" \
    "$includedir/nsrun.h" "$mandir/man1/oc-nsrun.1" "$mandir/man1/oc-nsrun-git.1" "$mandir/man1/oc-bwrap.1" \
    "$mandir/man1/oc-nsrun-diff.1" "$mandir/man1/oc-nsjail.1" "$mandir/man5/oc-nsjail.cfg.5" "$mandir/man3/nsrun.3" \
    "$mandir/man7/nsrun-threats.7" "$apparmordir/oc-nsrun"; do
	[ -e "$file" ] || fail "$file is missing"
done
[ "$(ls "$includedir" | grep -c nsrun)" = 1 ] || fail "more headers than nsrun.h"
for name in weak probe inject witness policyc bench aide; do
	[ ! -e "$bindir/$name" ] || fail "$bindir/$name was installed"
done
for name in oc-nsrun oc-bwrap oc-nsjail; do
	grep -q "^profile $name $bindir/$name " "$apparmordir/oc-nsrun" ||
		fail "the AppArmor profile does not name $bindir/$name"
done

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# shellcheck disable=SC2046
$cc -Wall -Werror -o "$scratch/example" "$srcdir/tests/install/example.c" \
	$(PKG_CONFIG_PATH="$libdir/pkgconfig" pkg-config --cflags --libs nsrun) \
	-Wl,-rpath,"$libdir"
mkdir "$scratch/project"
if unshare -U -r true 2>/dev/null; then
	"$scratch/example" "$scratch/project" sh -c 'echo x >made' || fail "the example failed"
	[ "$(cat "$scratch/project/made")" = x ] || fail "the example's command did not run"
	"$bindir/oc-nsrun" run --project "$scratch/project" -- true || fail "oc-nsrun run failed"
else
	echo "installcheck: no user namespaces here: the example was built, not run"
fi
