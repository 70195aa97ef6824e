#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# @google/gemini-cli-core from npm: its LinuxSandboxManager, and where vitest is
# there too, the integration tests that it ships.
. "${srcdir:?}"/tests/lib.sh
. "$srcdir"/tests/clients/clients.sh
package=$node_modules/@google/gemini-cli-core
[ -f "$package/dist/src/sandbox/linux/LinuxSandboxManager.js" ] ||
	skip_all "no @google/gemini-cli-core in \$NSRUN_CLIENTS"
find_node
[ "$node_major" -ge 20 ] || skip_all "its node has to be 20 or newer"
diag "$(sed -n 's/^  "version": //p' "$package/package.json") node $node_major"
cp "$here/gemini.mjs" "$work/gemini.mjs"

for caller in $callers; do
	P=$(project "$caller") T=$work/$caller/tmp
	reachable "$caller" "$package/package.json" || {
		skip "$caller: gemini" "it cannot read $package"; continue
	}
	client "$caller" sh -c 'mkdir -p forbidden .git; echo no >forbidden/file; echo SECRET=1 >.env
		echo no >hidden; : >.gitignore; : >.geminiignore'
	client "$caller" cp "$probe" probe
	gemini() { client "$caller" env FORBIDDEN="$P/forbidden:$P/hidden" "$node" "$work/gemini.mjs" "$package" "$@"; }
	before_tree=$(tree "$caller" project)

	is "$caller: a command" "$(gemini echo hello 2>&1)" hello
	is "$caller: words as they are" "$(gemini printf '%s|' 'a  b' '' '$c')" 'a  b||$c|'
	status "$caller: the status" 9 gemini sh -c 'exit 9'
	is "$caller: stdin" "$(echo in | gemini cat)" in
	is "$caller: the workspace is written" "$(gemini sh -c 'echo ok >made && cat made && rm made' 2>&1)" ok
	is "$caller: what is refused is" "$(gemini sh -c 'for f in .git/x forbidden/x hidden /usr/x /etc/x; do
		(echo x >>$f) 2>/dev/null && echo $f; done; echo end')" end
	is "$caller: what is hidden is" "$(gemini sh -c 'ls -A forbidden; cat hidden' 2>/dev/null)" ""
	if [ "$caller" = user ] || names --forward-signals; then
		is "$caller: .env is masked" "$(gemini sh -c 'cat .env' 2>/dev/null)" ""
	fi
	is "$caller: its filter, and no descriptor" "$(gemini sh -c './probe try ptrace inet; ./probe fds')" \
		"ptrace EPERM inet OK
0 1 2"
	is "$caller: no network but lo" "$(gemini sh -c 'tail -n +3 /proc/net/dev | cut -d: -f1' | tr -d ' ')" lo
	is "$caller: nothing was left in its workspace" "$(tree "$caller" project)" "$before_tree"
	is "$caller: nothing was left in TMPDIR" "$(find "$T" -mindepth 1 ! -name 'node-*')" ""
done

suite=$package/dist/src/services/sandboxManager.integration.test.js
if [ ! -f "$node_modules/vitest/vitest.mjs" ] || [ ! -f "$suite" ]; then
	skip "its own integration tests" "no vitest in \$NSRUN_CLIENTS"
elif node=$(command -v node); [ "${node#/tmp/}" != "$node" ] || [ -z "$node" ]; then
	# They run it inside, where /tmp is another.
	skip "its own integration tests" "no node outside of /tmp"
else
	cat >"$work/vitest.config.mjs" <<EOF
export default { root: "$package", cacheDir: "$work/user/tmp/vite",
	test: { include: ["dist/src/services/sandboxManager.integration.test.js"], exclude: [], cache: false } };
EOF
	client user "$node" "$node_modules/vitest/vitest.mjs" run --config "$work/vitest.config.mjs" \
		--configLoader runner --reporter tap-flat >"$work/log" 2>&1
	rc=$?
	diag "$(grep -c '^ok' "$work/log") of them pass"
	is "its own integration tests" "$rc $(grep -c '^not ok' "$work/log")" "0 0"
	[ $rc = 0 ] || diag "$(grep -v '^ok' "$work/log" | tail -n 60)"
fi
leaves_nothing
done_testing
