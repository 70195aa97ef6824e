#!/bin/sh
# Fault injection, for what homes and credentials add to a launch: a system call
# fails, and the host's home is what it was; what a launch left on the host is
# gone after the next; a copy is handed back whole or not at all.
. "${srcdir:?}"/tests/lib.sh
. "$srcdir"/tests/home/home.sh
need_sandbox
grep -q __asan_init "$oc" && { echo "1..0 # SKIP a sanitizer's runtime does not bear faults"; exit 0; }
cp "$top_builddir"/tests/fault/inject "$work" || exit 99
stride=${NSRUN_FAULT_STRIDE:-41}	# test_fault.sh has each call of a launch without these

for caller in $callers; do
	furnish "$caller"
	c=$h/.claude/.credentials.json
	cat >"$p/client" <<'END'
#!/bin/sh
[ "$(cat ~/.claude/.credentials.json)" = '{"token": "host"}' ] && [ "$(cat ~/.ssh/id)" = private-key ] &&
	! [ -e ~/.config/gh/hosts.yml ] && echo '{"token": "new"}' >~/.claude/.credentials.json && echo whole >ran
END
	chmod 755 "$p/client"
	# injected N: one run; leaves $rc, $said and $call
	injected() {
		rm -f "$p/call" "$p/ran"
		as "$caller" timeout -k 5 60 sh -c 'exec "$@" 9>call' sh "$work/inject" "$1" "$2" \
			"$oc" run --stdin null --state-dir "$state" --as owner --project . --home $kind \
			--credential .././.ssh/id --credential-copy ../.claude/.credentials.json $return -- ./client >/dev/null 2>&1
		rc=$?
		said=$(cat "$p/ran" 2>/dev/null)
		call=$(cat "$p/call" 2>/dev/null)
	}
	for kind in private private=f overlay "overlay --home-keep f"; do
		return=
		injected 0 0
		[ $rc = 201 ] && { skip "$caller: fault injection" "ptrace is not permitted here"; continue 2; }
		is "$caller: $kind: without a fault" "$rc $said" "0 whole"
		total=$call bad='' n=1 ran=0
		while [ "$n" -le "$total" ]; do
			# Each other one with the way back, which is then undone.
			return=; [ $((n % 2)) = 0 ] && return=--credential-return
			injected $n 1
			case $said in
			whole) ran=$((ran + 1)) ;;
			'') # umask(2) cannot fail: its answer is then a mask of everything.
				[ "$rc" = 0 ] && [ "$call" != 95 ] && [ "$call" != 166 ] && bad="$bad
call $n (system call $call): did not run, but the status is 0" ;;
			*) bad="$bad
call $n (system call $call): $said" ;;
			esac
			[ "$rc" = 124 ] && bad="$bad
call $n (system call $call): hangs"
			case $return$(as "$caller" cat "$c") in
			'{"token": "host"}' | '--credential-return{"token": "host"}' | '--credential-return{"token": "new"}') ;;
			*) bad="$bad
call $n (system call $call): the credential is $(as "$caller" cat "$c")" ;;
			esac
			[ "$return" ] && as "$caller" sh -c 'echo "{\"token\": \"host\"}" >"$1"' sh "$c"
			n=$((n + stride))
		done
		is "$caller: $kind: a fault leaves no half of anything" "$bad" ""
		[ $ran -gt 0 ] && pass "$caller: $kind: $ran of them were harmless" || fail "$caller: $kind: none was harmless"
		as "$caller" sh -c 'rm -f "$1"/.oc-nsrun-*; touch -r "$2" "$1" "$1/.credentials.json"' sh "$h/.claude" "$h/.claude.json"
		return=
		injected 0 0
		is "$caller: $kind: the next one is whole" "$rc $said" "0 whole"
		is "$caller: $kind: nothing is left but what is kept" \
			"$(find "$state" -mindepth 2 -maxdepth 2 -name '.*')" ""
	done
	as "$caller" "$oc" home --state-dir "$state" release private=f overlay=f
	is "$caller: all of it can be removed" "$(find "$state" -mindepth 2)" ""
done
done_testing
