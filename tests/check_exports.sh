#!/bin/sh
# The shared library exports what nsrun.map lists, nothing else, and each is
# declared in nsrun.h.
set -u
echo 1..3
want=$(sed -n 's/^\t\(nsrun_[a-z_]*\);$/\1/p' "$srcdir"/lib/nsrun.map | sort)
got=$(nm -D --defined-only "$top_builddir"/.libs/libnsrun.so |
	awk '$2 == "T" || $2 == "D" || $2 == "R" || $2 == "B" { sub(/@.*/, "", $3); print $3 }' | sort)
declared=$(grep -oE '\bnsrun_[a-z_]+\(' "$srcdir"/lib/nsrun.h | tr -d '(' | sort -u)
[ -n "$want" ] && [ -n "$got" ] || exit 99
check() {
	if [ "$2" = "$3" ]; then
		echo "ok $4 - $1"
	else
		echo "not ok $4 - $1"
		printf 'want:\n%s\ngot:\n%s\n' "$2" "$3" | sed 's/^/# /'
	fi
}
check "exports match lib/nsrun.map" "$want" "$got" 1
missing=$(for f in $want; do echo "$declared" | grep -qx "$f" || echo "$f"; done)
check "each is declared in nsrun.h" "" "$missing" 2

# Whatever has external linkage carries the prefix: a static link cannot clash.
odd=$(nm --defined-only "$top_builddir"/.libs/libnsrun-all.a 2>/dev/null |
	awk 'NF == 3 && $2 ~ /^[TDRBC]$/ { print $3 }' |
	grep -vE '^(nsrun_|__|_)' | sort -u)
check "external symbols are called nsrun_*" "" "$odd" 3
