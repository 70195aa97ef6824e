#!/bin/sh
# Fault injection: each system call of a launch fails once. Either the command
# does not run, or it runs in a sandbox that is whole; nothing is left.
. "${srcdir:?}"/tests/lib.sh
need_sandbox
# Its runtime spins for ever when its own munmap(2) fails.
grep -q __asan_init "$oc" && { echo "1..0 # SKIP a sanitizer's runtime does not bear faults"; exit 0; }
cp "$top_builddir"/tests/fault/inject "$top_builddir"/tests/fault/witness "$work" || exit 99

for caller in $callers; do
	p=$(project "$caller")
	cp "$work/witness" "$p/witness"
	[ "$(id -u)" = 0 ] && [ "$caller" = user ] && chown $user_id "$p/witness"
	# injected N ERRNO: one run; leaves $rc, $ran and $call
	injected() {
		rm -f "$p/ran"
		said=$(as "$caller" timeout -k 5 60 sh -c 'exec "$@" 9>call' sh "$work/inject" "$1" "$2" \
			"$oc" run --stdin null --as $as --project . -- ./witness 2>&1)
		rc=$?
		ran=$(cat "$p/ran" 2>/dev/null)
		call=$(cat "$p/call" 2>/dev/null)
	}
	# By name, so that it is refused where it cannot be and never replaced.
	as=owner
	injected 0 0
	if [ $rc = 201 ]; then
		skip "$caller: fault injection" "ptrace is not permitted here"
		continue
	fi
	total=$call
	is "$caller: without a fault the command runs, confined" "$rc $ran" "0 whole"
	before=$(ls -A "$p" | sort)
	bad='' n_ran=0 n_refused=0 n=1
	while [ "$n" -le "$total" ]; do
		injected $n 1
		n=$((n + 1))
		[ "$rc" = 200 ] && break
		# umask(2) cannot fail: its answer is then a mask of everything.
		case $call in 95 | 166) continue ;; esac
		case $ran in
		whole) n_ran=$((n_ran + 1)) ;;
		u) # geteuid(2) cannot fail, and who is not root keeps its ids.
			case $call in
			107 | 175) n_ran=$((n_ran + 1)) ;;
			*) bad="$bad
call $((n - 1)) (system call $call): ran as root" ;;
			esac ;;
		'') n_refused=$((n_refused + 1)) ;;
		*) bad="$bad
call $((n - 1)) (system call $call): ran without: $ran" ;;
		esac
		[ "$rc" = 124 ] && bad="$bad
call $((n - 1)) (system call $call): hangs"
		[ -z "$ran" ] && [ "$rc" = 0 ] && bad="$bad
call $((n - 1)) (system call $call): did not run, but the status is 0"
	done
	is "$caller: $((n - 1)) faults: no command ran half confined" "$bad" ""
	[ $n_refused -gt 100 ] && pass "$caller: $n_refused faults were fatal, $n_ran harmless" ||
		fail "$caller: the faults had an effect" "$n_refused fatal of $((n - 1))"
	rm -f "$p/ran"; : >"$p/ran"
	# A launch that a fault ended leaves its janitor to finish on its own.
	eventually "$caller: nothing was left in the project" \
		sh -c '[ "$(ls -A "$1" | sort)" = "$2" ]' sh "$p" "$before"
	eventually "$caller: no process was left" sh -c \
		"! grep -alsF '$work' /proc/[0-9]*/cmdline | grep -v /proc/self/ | while read -r f; do d=\${f%/cmdline}; case \$(readlink \$d/exe) in *oc-nsrun|*witness) echo \$d;; esac; done | grep -q ."
done
done_testing
