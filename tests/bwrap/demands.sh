#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# What users, maintainers and advisories have demanded of bubblewrap: each is
# kept, or refused with a message, and then oc-bwrap(1) says so. A name like
# (#427) is of bubblewrap's tracker. The parts are demands_*.sh.
#
#	DEMANDS="stubs tty"	only these parts
#	BWRAP=FILE		another program than ours, to see it fail
. "$srcdir"/tests/lib.sh
. "$srcdir"/tests/clients/clients.sh
here=$srcdir/tests/bwrap
cp "$top_builddir/tests/bwrap/aid" "$work/bin/aid" || exit 99
aid=$work/bin/aid
page=$srcdir/man/oc-bwrap.1

# run WORDS...: bwrap, as the caller in its project, without a descriptor of
# ours; fd LIST WORDS... has these.
run() { fd - "$@"; }
fd() {
	fd_list=$1; shift
	as "$caller" "$probe" only "$fd_list" timeout -k 5 30 bwrap "$@"
}
own() { as "$caller" timeout -k 5 60 "$@"; }
# All of the host, to be looked at, and a /dev that works.
all='--ro-bind / / --dev /dev'
isnt() { if [ "$2" != "$3" ]; then pass "$1"; else fail "$1" "got: $2"; fi; }
words() { tr -s '\n\t ' '   ' | sed 's/^ //; s/ $//'; }

# bad WHAT PATTERN LIST WORDS...: exit 1 and one line, before anything was
# run, and no process is left: aid is told of the end of each.
bad() {
	what=$1 pattern=$2 list=$3; shift 3
	rm -f "$P/ran"
	said=$(as "$caller" "$probe" only "$list" timeout -k 5 20 "$aid" reap \
		bwrap "$@" 2>&1)
	bad_rc=$? bad_lines=$(printf '%s\n' "$said" | wc -l)
	# shellcheck disable=SC2254
	case $bad_rc,$bad_lines,$([ ! -e "$P/ran" ] || echo ran),$said in
	1,1,,'bwrap: '$pattern) pass "$caller: $what" ;;
	*) fail "$caller: $what" "rc $bad_rc, $bad_lines lines: $said
want: bwrap: $pattern" ;;
	esac
}

# The page without its macros, on one line.
told=$(sed -e '/^\.\\"/d' -e 's/^\.Nm/oc-bwrap/' -e 's/^\.[A-Z][a-z]* *//' -e 's/ Dv / /g' \
	-e 's/\\&//g' -e 's/\\-/-/g' "$page" | tr '\n' ' ' | tr -s ' ')
# documented WHAT PATTERN
documented() {
	case $told in
	*"$2"*) pass "oc-bwrap(1): $1" ;;
	*) fail "oc-bwrap(1): $1" "not there: $2" ;;
	esac
}

# hold NAME WORDS...: a sandbox that ends at let_go NAME; its bwrap is
# $(pid_of NAME). It needs $T to be writable inside.
hold() {
	held=$1; shift
	rm -f "$T/$held".*
	as "$caller" "$probe" only - sh -c 'echo $$ >"$1.pid"; shift
		exec bwrap "$@"' _ "$T/$held" "$@" sh -c 'echo >"$1.up"
		for _ in $(seq 1500); do
			[ ! -e "$1.go" ] || exit 0
			sleep 0.02
		done' _ "$T/$held" >"$work/$held.out" 2>&1 &
	holder=$!
	for _ in $(seq 1000); do
		[ ! -e "$T/$held.up" ] || return 0
		sleep 0.01
	done
	fail "$caller: $held is up" "$(cat "$work/$held.out")"
}
# The words of a kind of process tree.
mode() {
	case $1 in
	in-place) ;;
	--as-pid-1) echo --unshare-pid --as-pid-1 ;;
	*) echo "$1" ;;
	esac
}
let_go() { : >"$T/$1.go"; }
pid_of() { cat "$T/$1.pid"; }
gone() { [ ! -e "$1" ] && [ ! -L "$1" ]; }

parts=${DEMANDS:-paths stubs life tty mounts ids input}
for part in $parts; do
	. "$here/demands_$part.sh"
done
for caller in $callers; do
	P=$(project "$caller") H=$(home "$caller") T=$work/$caller/tmp
	for part in $parts; do
		"demand_$part" 2>>"$work/errors"
	done
done
for part in $parts; do
	"document_$part"
done
is "the shell has nothing to say" "$(grep "demands.*\.sh:" "$work/errors")" ""
leaves_nothing
done_testing
