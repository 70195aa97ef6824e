#!/bin/sh
# --die-with-parent where the parent is outside the pid namespace: getppid(2)
# is 0 there, and no descriptor of it is to be had.
. "${srcdir:?}"/tests/lib.sh
need_sandbox
cp "$top_builddir/helper/oc-bwrap" "$work/oc-bwrap" || exit 99

# Has a process the word that is in this file among its arguments?
cat >"$work/named" <<'EOT'
#!/bin/sh
grep -alsxzF -f "$1" /proc/[0-9]*/cmdline | grep -q .
EOT
cat >"$work/none-named" <<'EOT'
#!/bin/sh
! "${0%/*}/named" "$1"
EOT
chmod 755 "$work/named" "$work/none-named"

for caller in $callers; do
	for how in '' --unshare-pid; do
		word=$work/$caller.word$how name="$caller: --die-with-parent $how"
		# shellcheck disable=SC2016
		as "$caller" sh -c 'echo $$ >pid; exec "$@"' sh \
			unshare -U -r -p -f "$work/oc-bwrap" \
			--die-with-parent $how --bind / / \
			sh -c ': >runs; while :; do sleep 1; done' "$word" &
		eventually "$name: it runs" test -e "$(project "$caller")/runs"
		echo "$word" >"$work/word"
		"$work/named" "$work/word" || fail "$name: it can be found"
		kill -KILL "$(cat "$(project "$caller")/pid")"
		wait
		rm -f "$(project "$caller")/runs"
		eventually "$name: it is gone" "$work/none-named" \
			"$work/word"
	done
done
done_testing
