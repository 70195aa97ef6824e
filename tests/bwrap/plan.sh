#!/bin/sh
# Command lines of oc-bwrap and the plans that they become: plan.rows, which has
# the syntax. Nothing is run, so it needs neither privilege nor namespaces.
. "${srcdir:?}"/tests/lib.sh
rows=$srcdir/tests/bwrap/plan.rows
# shellcheck disable=SC2034
NL='
'

# What the rows name; each caller has his own.
prepare() {
	D=$work/$caller/d P=$(project "$caller") H=$(home "$caller")
	U=$(as "$caller" id -u) G=$(as "$caller" id -g)
	mkdir -p "$D/dir" || exit 99
	printf 'data of 3' >"$D/data"
	printf '\006\0\0\0\0\0\377\177' >"$D/filter"
	printf 'odd' >"$D/odd"
	: >"$D/file"
	: >"$D/args"
	ln -s dir "$D/link"
}

# explain WORDS: the plan of words of the shell, on descriptors that are known
# and no terminal; what is said beside it goes to $work/said.
explain() {
	eval "set -- $1"
	as "$caller" setsid -w "$oc" explain bwrap "$@" 3<"$D/data" \
		4</dev/null 5<"$D/dir" 6<"$D/odd" 7<"$D/args" 8<"$D/filter" \
		9<"$D/filter" </dev/null 2>"$work/said"
}

# The same on a terminal.
explain_tty() {
	# The shell that script(1) starts sorts its variables.
	as "$caller" script -qec "exec env -i PATH='$PATH' HOME='$H' \
		USER=tester LOGNAME=tester LC_ALL=$LC_ALL TERM=$TERM \
		'$oc' explain bwrap $1" /dev/null </dev/null 9<"$D/filter" | tr -d '\r' |
		sed 's|/dev/pts/[0-9][0-9]*|$T|'
	: >"$work/said"
}

# words LINE: with a command, if it has none
words() {
	case " $1 " in
	*' -- '*) echo "$1" ;;
	*) echo "$1 x" ;;
	esac
}

# What makes the plan in $work/plan another than that of no options at all.
changes() {
	sed 's/^/! /' "$work/said"
	[ ! -s "$work/plan" ] ||
		diff "$1" "$work/plan" | sed -n 's/^\(. identity .*\) keeps-root/\1/; s/^< /- /p; s/^> /+ /p'
}

# What --dev makes, and what covers a procfs for the host's uid 0.
spell_out() {
	awk '$1 == "@dev" {
		print "+ mount tmpfs " $2
		for (i = split("tty urandom random full zero null", v); i; i--)
			print "+ mount bind /dev/" v[i] " -> " $2 "/" v[i] \
				" recursive dev"
		print "+ mount dir " $2 "/shm"
		print "+ mount devpts " $2 "/pts noexec dev"
		print "+ mount symlink /proc/self/fd/0 -> " $2 "/stdin replace"
		print "+ mount symlink /proc/self/fd/1 -> " $2 "/stdout replace"
		print "+ mount symlink /proc/self/fd/2 -> " $2 "/stderr replace"
		print "+ mount symlink /proc/self/fd -> " $2 "/fd replace"
		print "+ mount symlink /proc/kcore -> " $2 "/core replace"
		print "+ mount symlink pts/ptmx -> " $2 "/ptmx replace"
		next
	}
	$1 == "@covers" {
		for (i = split("fs bus irq sysrq-trigger sys", v); i; i--)
			print "+ mount cover " $2 "/" v[i] " optional"
		next
	}
	{ print }'
}

# The lines of a row that are for this caller, in full.
expected() {
	sed -n "s/^$caller //; /^[-+!@]/p" "$work/want" | spell_out |
		sed "s|\\\$U|$U|g; s|\\\$G|$G|g; s|\\\$D|$D|g
			s|\\\$PATH|$PATH|g; s|\\\$P|$P|g; s|\\\$H|$H|g"
}

# The row that was read: $mark, $line, and $work/want
judge() {
	name="$caller: line $at: $mark $line"
	case " $line" in
	*-user-try* | *' --unshare-all'* | *' --unshare-cgroup'*)
		if [ -z "$can_try" ]; then
			skip "$name" "no user or cgroup namespaces here"
			return
		fi ;;
	esac
	case $mark in
	'>') explain "--unshare-user $(words "$line")" >"$work/plan" ;;
	'>>') explain "$(words "$line")" >"$work/plan" ;;
	'tty>') if [ -z "$terminal" ]; then
			skip "$name" "script(1) makes no terminal here"
			return
		fi
		explain_tty "--unshare-user $(words "$line")" >"$work/plan" ;;
	esac
	base=$work/base.user
	[ "$mark" = '>>' ] && base=$work/base
	is "$name" "$(changes "$base")" "$(expected)"
}

# The plan of no options, of which the rows are the differences. Pid 1 of the
# host's root is not looked into.
check_base() {
	opens="
process open-init"
	[ $caller = root ] && opens=
	is "$caller: the plan of no options" "$(cat "$work/base")" "profile -
$1
process in-place
process outlives
process keeps-signals
process keeps-fds$opens
process free-caps
session caller
network host
writes-host
mount root /
stdio 0 inherit
stdio 1 inherit
stdio 2 inherit
env PATH=$PATH
env HOME=$H
env USER=tester
env LOGNAME=tester
env LC_ALL=$LC_ALL
env TERM=$TERM
env PWD=$P
cwd $P
cwd-else $H
cwd-else /
arg x
supervise timeout=0ms output=0"
}

can_try=
[ -e /proc/self/ns/cgroup ] && can_try=y
[ "$(cat /proc/sys/user/max_user_namespaces 2>/dev/null)" != 0 ] || can_try=

# All but those that end it, and those for SELinux.
missing=
for option in $("$oc" bwrap --help | sed -n 's/^ *\(--[a-z0-9-]*\).*/\1/p'); do
	case $option in
	--help | --version | --exec-label | --file-label) continue ;;
	esac
	grep -q -e "^[>=].* $option\( \|\$\)" "$rows" || missing="$missing $option"
done
is "every option stands in a row" "$missing" ""

for caller in $callers; do
	# The rows know uid 0 with its capabilities, or nobody at all.
	if [ "$caller" = root ]; then
		grep -q '^CapEff:.*[2367abef][0-9a-f]\{5\}$' /proc/self/status &&
			grep -q '^ *0 *0 ' /proc/self/uid_map || {
			skip "$caller: plans" "uid 0 is not the host's here"
			continue
		}
	fi
	prepare
	explain x >"$work/base"
	explain '--unshare-user x' >"$work/base.user"
	if [ "$U" = 0 ]; then
		check_base "namespaces mount
identity uid=0 gid=$G host=0:$G keeps-root"
	else
		check_base "namespaces user mount
identity uid=$U gid=$G host=$U:$G
uid-map $U:$U:1
gid-map $G:$G:1"
	fi
	is "$caller: no options, in a directory that is gone" \
		"$(as "$caller" sh -c 'mkdir gone && cd gone && rmdir ../gone
			exec "$0" explain bwrap x' "$oc" | grep '^cwd')" \
		"cwd $H
cwd-else /"
	terminal=
	command -v script >/dev/null &&
		[ "$(as "$caller" script -qec 'test -t 0 && echo so' /dev/null \
			</dev/null 2>/dev/null | tr -d '\r')" = so ] && terminal=y
	n=0 at=0 mark='' line=''
	while IFS= read -r text || [ -n "$text" ]; do
		n=$((n + 1))
		case $text in
		'=' | '= '*)
			eval "set -- ${text#=}"
			for word; do printf '%s\0' "$word"; done >"$D/args" ;;
		'>' | '> '* | '>>' | '>> '* | 'tty>' | 'tty> '*)
			mark=${text%% *} line=${text#"$mark"} at=$n
			line=${line# }
			: >"$work/want" ;;
		'') [ -z "$mark" ] || judge
			mark='' ;;
		'#'*) ;;
		*) printf '%s\n' "$text" >>"$work/want" ;;
		esac
	done <"$rows"
	[ -z "$mark" ] || judge
	[ "$at" != 0 ] || fail "$caller: no row was read"
done
done_testing
