#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# @anthropic-ai/sandbox-runtime from npm: `srt`, with its proxies, its helper
# and its clearing up.
. "${srcdir:?}"/tests/lib.sh
. "$srcdir"/tests/clients/clients.sh
package=$node_modules/@anthropic-ai/sandbox-runtime
[ -f "$package/dist/cli.js" ] || skip_all "no @anthropic-ai/sandbox-runtime in \$NSRUN_CLIENTS"
find_node
[ "$node_major" -ge 22 ] || skip_all "its node has to be 22 or newer"
for program in socat rg; do
	command -v $program >/dev/null || skip_all "it needs $program"
done
diag "$(sed -n 's/^  "version": //p' "$package/package.json") node $node_major"
case $(uname -m) in
x86_64) helper=$package/vendor/seccomp/x64/apply-seccomp ;;
*) helper=$package/vendor/seccomp/arm64/apply-seccomp ;;
esac

for caller in $callers; do
	P=$(project "$caller") H=$(home "$caller") T=$work/$caller/tmp
	reachable "$caller" "$package/dist/cli.js" || {
		skip "$caller: srt" "it cannot read $package"; continue
	}
	client "$caller" sh -c 'mkdir -p .git/hooks locked ~/secret; echo "[core]" >.git/config
		echo "ref: refs/heads/main" >.git/HEAD; echo no >locked/file
		echo hidden >~/secret/key; echo shown >~/secret/public; echo token >~/token'
	cat >"$work/settings" <<EOF
{ "network": { "allowedDomains": [], "deniedDomains": [] },
  "filesystem": { "denyRead": ["$H/secret", "$H/token"], "allowRead": ["$H/secret/public"],
    "allowWrite": ["$P"], "denyWrite": ["$P/locked", "$P/absent"] } }
EOF
	srt() { client "$caller" "$node" "$package/dist/cli.js" -s "$work/settings" -c "$1"; }
	before_tree=$(tree "$caller")

	is "$caller: a command" "$(srt 'echo hello; echo 2 >&2' 2>&1)" "hello
2"
	status "$caller: the status" 7 srt 'exit 7'
	is "$caller: stdin" "$(echo in | srt cat)" in
	is "$caller: the project is written" "$(srt 'echo new >made && cat made'; cat "$P/made")" "new
new"
	# One start for all that is refused: node takes its time.
	is "$caller: what is refused is" "$(srt "for f in locked/file absent .bashrc .mcp.json .git/config \
		.git/hooks/x .vscode $H/x /usr/x $H/token; do
		if (echo x >>\$f) 2>/dev/null; then echo \$f; fi; done; echo end")" end
	is "$caller: what is hidden is" "$(srt "ls $H/secret; cat $H/secret/public $H/token" 2>/dev/null)" "public
shown"
	seen=$(srt 'ls /proc | grep -c "^[0-9]"; unshare -Ur true 2>/dev/null && echo userns
		tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d " "
		for fd in /proc/self/fd/*; do echo "${fd##*/}"; done | sort -n | head -n 5 | tr "\n" " "' 2>&1)
	if [ "$caller" = user ] && [ -x "$helper" ]; then
		ok "$caller: its helper has a /proc of its own" test "${seen%%
*}" -le 9
	fi
	unlike "$caller: no user namespace, the network its own" "$seen" "*userns*|*eth*"
	like "$caller: ... and lo" "$seen" "*
lo
*"
	# Its own proxy answers through the socket: 403, where nothing is allowed.
	if command -v curl >/dev/null; then
		is "$caller: its proxy is reached and refuses" \
			"$(srt 'curl -s -o /dev/null -w "%{http_connect} %{http_code}" http://example.com/')" "000 403"
	fi
	rm -f "$P/made"
	is "$caller: nothing was left in its home" "$(tree "$caller" | grep -v '^./.npm')" "$before_tree"
	# The socket of its own proxy stays there, up to 0.0.78 at least.
	is "$caller: nothing was left in TMPDIR" "$(find "$T" -mindepth 1 ! -path "$T/claude*" ! -name 'node-*' ! -name 'srt-mux-*')" ""
done
leaves_nothing
done_testing
