# Sourced by the shell tests: TAP, a private directory, and the two callers.
#
#	. "$srcdir"/tests/lib.sh
#	for caller in $callers; do
#		is "$caller: uid inside" "$(as $caller $oc run -- id -u)" "$uid"
#	done
#	done_testing
#
# $callers is "root user" for root and "user" for anybody else, so every test
# runs as an ordinary user, and as root where that is possible. as CALLER CMD...
# runs CMD as that caller, in its project, with a HOME of its own.
#
# $oc		the program, copied to where every caller can reach it
# $work		a directory of the test's own, removed at the end
# project CALLER	its project; home CALLER: its home
set -u

: "${top_builddir:?run by make check}" "${srcdir:?}"
export LC_ALL=C.UTF-8 TERM=dumb
unset CDPATH MAKEFLAGS MFLAGS MAKELEVEL TZ XDG_RUNTIME_DIR 2>/dev/null || :
umask 022

tests=0 failed=0
user_id=12345		# needs no entry in /etc/passwd

work=$(mktemp -d "${TMPDIR:-/tmp}/nsrun-test.XXXXXX") || exit 99
work=$(cd "$work" && pwd -P) || exit 99
chmod 755 "$work"
# Where root keeps its state no test may leave what was not there: not even the
# directories, which go as far as they are empty.
default_state=/var/lib/oc-nsrun
[ ! -e $default_state ] || default_state=
# Only what is ours: --one-file-system never crosses a mount.
cleanup() {
	cd / && rm -rf --one-file-system "$work"
	[ "$(id -u)" != 0 ] || [ ! "$default_state" ] ||
		find $default_state -depth -type d -empty -delete 2>/dev/null || :
}
trap cleanup EXIT
trap 'exit 99' HUP INT TERM

cp "$top_builddir"/helper/oc-nsrun "$work"/oc-nsrun || exit 99
oc=$work/oc-nsrun

home() { echo "$work/$1/home"; }
project() { echo "$work/$1/home/project"; }

callers=user
[ "$(id -u)" = 0 ] && callers="root user"
for caller in $callers; do
	mkdir -p "$(project $caller)" || exit 99
	[ "$(id -u)" = 0 ] && [ $caller = user ] &&
		chown -R $user_id:$user_id "$work/$caller"
done
# A root caller's home is closed to others, as /root is.
[ -d "$work/root" ] && chmod 700 "$work/root/home"

# The environment is the same on every machine.
as() {
	as_caller=$1; shift
	if [ "$(id -u)" = 0 ] && [ "$as_caller" = user ]; then
		set -- setpriv --reuid $user_id --regid $user_id \
			--clear-groups --inh-caps=-all "$@"
	fi
	(cd "$(project "$as_caller")" && exec env -i PATH="$PATH" \
		HOME="$(home "$as_caller")" USER=tester LOGNAME=tester \
		LC_ALL=$LC_ALL TERM=$TERM "$@")
}

# Skip everything where the kernel gives no namespaces, as unshare(1) finds, who
# is not of this project: what *we* cannot do there is a failure.
need_sandbox() {
	for caller in $callers; do
		why=$(as $caller unshare -U -r -m -p -n -f true 2>&1) || {
			echo "1..0 # SKIP no namespaces here: $why"
			exit 0
		}
	done
}

# Not echo, for which a backslash is the beginning of something.
diag() { printf '%s\n' "$*" | sed 's/^/# /'; }
pass() { tests=$((tests + 1)); echo "ok $tests - $1"; }
fail() {
	tests=$((tests + 1)); failed=$((failed + 1))
	echo "not ok $tests - $1"
	shift
	[ $# = 0 ] || diag "$*"
}
skip() { tests=$((tests + 1)); echo "ok $tests - $1 # SKIP $2"; }

# ok WHAT CMD...: the command succeeds
ok() {
	what=$1; shift
	if said=$("$@" 2>&1); then pass "$what"; else fail "$what" "rc $?: $said"; fi
}
# is WHAT GOT WANT
is() {
	if [ "$2" = "$3" ]; then pass "$1"; else fail "$1" "got:  $2
want: $3"; fi
}
# like WHAT GOT PATTERN: a pattern of case
like() {
	# shellcheck disable=SC2254
	case $2 in
	$3) pass "$1" ;;
	*) fail "$1" "got:  $2
want: $3" ;;
	esac
}
unlike() {
	# shellcheck disable=SC2254
	case $2 in
	$3) fail "$1" "got:  $2
does match: $3" ;;
	*) pass "$1" ;;
	esac
}
# status WHAT WANT CMD...: the exit status; what it said is left in $said
status() {
	what=$1 want=$2; shift 2
	said=$("$@" 2>&1); rc=$?
	if [ $rc = "$want" ]; then pass "$what"; else fail "$what" "rc $rc, not $want: $said"; fi
}
# fails WHAT CMD...: any status but 0; what it said is left in $said
fails() {
	what=$1; shift
	said=$("$@" 2>&1); rc=$?
	if [ $rc != 0 ]; then pass "$what"; else fail "$what" "did not fail: $said"; fi
}
# eventually WHAT CMD...: within ten seconds
eventually() {
	what=$1; shift
	for _ in $(seq 100); do
		"$@" >/dev/null 2>&1 && { pass "$what"; return; }
		sleep 0.1
	done
	fail "$what" "not within 10 seconds: $*"
}

# running PATTERN: pids of all processes whose command line begins so. Not
# pgrep(1): where that is missing, a test finds nothing and is content.
running() {
	for running_of in /proc/[0-9]*; do
		case $(tr '\0' ' ' 2>/dev/null <"$running_of"/cmdline) in
		$1*) echo "${running_of#/proc/}" ;;
		esac
	done 2>/dev/null
}

done_testing() {
	echo "1..$tests"
	exit 0
}
