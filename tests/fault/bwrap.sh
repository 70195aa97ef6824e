#!/bin/sh
# Fault injection into oc-bwrap: each system call of a start fails once. Either
# the command does not run, and one line says why; or it finds just what it finds
# without a fault. Nothing is left, neither processes nor mount points.
#
#	FAULT_ERRNO=N	another error than EPERM
#	FAULT_LINES=..	only these command lines
. "${srcdir:?}"/tests/lib.sh
need_sandbox
grep -q __asan_init "$oc" && { echo "1..0 # SKIP a sanitizer's runtime does not bear faults"; exit 0; }
mkdir "$work/bin" && cp "$top_builddir"/helper/oc-bwrap \
	"$top_builddir"/tests/fault/inject "$top_builddir"/tests/bwrap/probe \
	"$work/bin" || exit 99
errno=${FAULT_ERRNO:-1}
machine=$(uname -m)
host=$(readlink /proc/self/ns/* | tr -dc '0-9\n' | tr '\n' ' ')

# The words of a command line; $P and what is in it is the caller's.
line() {
	case $1 in
	agent) echo "--new-session --die-with-parent --unshare-net --ro-bind / /
		--bind $P $P --tmpfs $P/dir --ro-bind /dev/null $P/file
		--dev /dev --unshare-pid --unshare-user --cap-drop ALL
		--proc /proc" ;;
	in-place) echo "--ro-bind / / --bind $P $P" ;;
	flatpak) echo "--args 3 --die-with-parent" ;;
	stubs) echo "--ro-bind / / --bind $P $P --ro-bind /dev/null $P/.none
		--tmpfs $P/.new --unshare-pid --unshare-user --uid 7 --dev /dev
		--disable-userns" ;;
	esac
}
block="--unshare-pid --unshare-ipc --unshare-net --dir /d --symlink d /l
	--ro-bind /usr /usr --ro-bind /bin /bin --ro-bind /lib /lib
	--ro-bind-try /lib64 /lib64 --perms 0600 --file 4 /f
	--ro-bind-data 4 /g --tmpfs /tmp --ro-bind $work/bin $work/bin
	--proc /proc --dev /dev --lock-file /g --info-fd 5 --json-status-fd 6
	--seccomp 8 --setenv A b --chmod 0555 /d --remount-ro / --chdir /"
printf '\006\0\0\0\0\0\377\177' >"$work/filter"
for word in $block; do printf '%s\0' "$word"; done >"$work/block"

# What the command found, but for the numbers of new namespaces, and for what
# may be otherwise after this system call failed: where it starts is a matter of
# what is there, and who cannot be told to have a right gets a user namespace.
found() {
	awk -v host=" $host" -v without="$(excused)" '$1 == "ns" {
		$0 = "\tns " $2 " " (index(host, " " $3 " ") ? "host" : "own")
	} without == "" || $0 !~ without' "$O/state"
}
excused() {
	case $machine.$call in
	x86_64.79 | x86_64.80 | aarch64.17 | aarch64.49)
		echo '^.(cwd|env PWD)' ;;	# getcwd, chdir
	x86_64.95 | aarch64.166) echo '^.umask' ;;	# it cannot fail
	x86_64.107 | aarch64.175)	# geteuid cannot fail
		echo '^.(mount|propagation) /proc/' ;;
	x86_64.125 | aarch64.90) echo '^.(map|ns user|cap)' ;;	# capget
	esac
}

# The same of a run without a fault.
expected() {
	without=$(excused)
	grep -vE -e "${without:-^\$}" "$O/whole"
}

# The same as that, or the beginning of it from one that was ended meanwhile.
is_whole() {
	got=$(found) want=$(expected)
	[ "$got" = "$want" ] && return
	[ "$rc" != 0 ] && [ "$rc" != hangs ] || return
	got=$(echo "$got" | sed '$d')
	case $want in
	"$got"*) return 0 ;;
	esac
	return 1
}

# injected N ERRNO: one run; leaves $rc, $said and $call
injected() {
	# shellcheck disable=SC2046
	as "$caller" sh -c 'O=$1; shift
		rm -f "$O/rc"
		timeout -k 5 30 sh -c "O=\$1; shift
			\"\$@\" >\"\$O/state\"; echo \$? >\"\$O/rc\"" \
			sh "$O" "$@" 5>"$O/info" 6>"$O/json" 9>"$O/call" \
			2>"$O/said"' sh "$O" "$work/bin/inject" "$1" "$2" \
		"$work/bin/oc-bwrap" $(line "$name") "$work/bin/probe" \
		</dev/null 3<"$work/block" 4<"$work/filter" 8<"$work/filter"
	# Without one, it had to be ended.
	rc=hangs
	[ ! -s "$O/rc" ] || read -r rc <"$O/rc"
	read -r call <"$O/call" || call=
	n_lines=$(wc -l <"$O/said")
}

# wrong: why this run was not right, or nothing
wrong() {
	if [ "$rc" = hangs ]; then
		echo "hangs"
	elif [ -s "$O/state" ] && ! is_whole; then
		echo "ran in another sandbox:
$(expected >"$O/expected"; found | diff "$O/expected" - | sed -n '/^[<>]/p' | head -n 5)"
	elif [ ! -s "$O/state" ] && [ "$rc" = 0 ]; then
		echo "did not run, but the status is 0"
	elif [ "$rc" = 137 ] && [ "$n_lines" = 0 ]; then
		:	# Pid 1 had no word left: as if it had been killed.
	elif [ "$rc" != 0 ] && [ "$n_lines" != 1 ] && [ "$n" -gt "$loader" ]; then
		echo "status $rc, and $n_lines lines: $(cat "$O/said")"
	fi
	# Who failed without a pid namespace does not wait long for the janitor.
	for _ in $(seq 50); do
		left=$(ls -A "$P")
		[ "$left" = "$before" ] && return
		case $machine.$call in
		x86_64.5 | x86_64.73 | x86_64.262 | x86_64.263) break ;;
		aarch64.32 | aarch64.35 | aarch64.79 | aarch64.80) break ;;
		esac
		sleep 0.1
	done
	rm -rf "$P/.none" "$P/.new"
	# Nobody is there to do what the janitor could not: look at it by fstat
	# or fstatat, get its lock by flock, unlinkat it.
	case $machine.$call in
	x86_64.5 | x86_64.73 | x86_64.262 | x86_64.263) return ;;
	aarch64.32 | aarch64.35 | aarch64.79 | aarch64.80) return ;;
	esac
	echo "left in the host's directory:" $left
}

for caller in $callers; do
	P=$(project "$caller") O=$work/$caller/out
	mkdir "$O" "$P/dir" && : >"$P/file" || exit 99
	[ "$(id -u)" = 0 ] && [ "$caller" = user ] &&
		chown -R $user_id:$user_id "$O" "$P"
	before=$(ls -A "$P")
	# Before there is anybody to say something.
	as "$caller" "$work/bin/inject" 0 0 "$work/bin/oc-bwrap" --version \
		9>"$O/call" >/dev/null
	read -r loader <"$O/call" || loader=0
	rm -f "$O/call"
	for name in ${FAULT_LINES:-agent in-place flatpak stubs}; do
		injected 0 0
		if [ "$rc" = 201 ]; then
			skip "$caller: $name" "ptrace is not permitted here"
			continue
		fi
		total=$call
		is "$caller: $name: runs without a fault" "$rc $(cat "$O/said")" "0 "
		call=
		found >"$O/whole"
		# The first is inject's own.
		bad='' n_ran=0 n_refused=0 n=2
		while [ "$n" -le "$total" ]; do
			injected $n "$errno"
			[ "$rc" = 200 ] && break
			why=$(wrong)
			[ -z "$why" ] || bad="$bad
call $n (system call $call): $why"
			if [ -s "$O/state" ]; then
				n_ran=$((n_ran + 1))
			else
				n_refused=$((n_refused + 1))
			fi
			n=$((n + 1))
		done
		is "$caller: $name: $((n - 1)) faults" "$bad" ""
		[ $n_refused -gt 50 ] &&
			pass "$caller: $name: $n_refused were fatal, $n_ran harmless" ||
			fail "$caller: $name: the faults had an effect" "$n_refused fatal"
	done
	for how in '' --unshare-pid; do
		status "$caller: a caller that ignores SIGCHLD $how" 3 as "$caller" \
			sh -c "trap '' CHLD; exec '$work/bin/oc-bwrap' $how \
				--ro-bind / / sh -c 'exit 3'"
	done
	eventually "$caller: no process was left" sh -c \
		"! readlink /proc/[0-9]*/exe | grep -qF '$work/bin/'"
done
done_testing
