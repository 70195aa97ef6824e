#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Agents' own sandboxes inside ours: @openai/codex and
# @anthropic-ai/sandbox-runtime from npm, each with Debian's bwrap and with ours.
# They are looked for in $NSRUN_CLIENTS, see tests/clients/clients.sh.
. "${srcdir:?}"/tests/lib.sh
need_sandbox
modules=${NSRUN_CLIENTS:-/nonexistent}/node_modules
[ -d "$modules" ] || { echo "1..0 # SKIP no \$NSRUN_CLIENTS"; exit 0; }
mkdir "$work"/bin && cp "$top_builddir"/helper/oc-bwrap "$work"/bin/bwrap || exit 99
for codex in "$modules"/@openai/codex-linux-*/vendor/*/bin/codex; do :; done
srt=$modules/@anthropic-ai/sandbox-runtime/dist/cli.js
for node in "$modules"/node-linux-*/bin/node "$(command -v node)"; do [ ! -x "$node" ] || break; done

for caller in $callers; do
	p=$(project "$caller") h=$(home "$caller")
	[ "$caller" = user ] || chown $user_id:$user_id "$p"
	as "$caller" setpriv --reuid "$(stat -c %u "$p")" --clear-groups test -r "$modules" 2>/dev/null ||
		as "$caller" test -r "$modules" || { skip "$caller" "it cannot read $modules"; continue; }
	mkdir "$p"/.git "$p"/.git/objects "$p"/.git/refs; echo "ref: refs/heads/main" >"$p"/.git/HEAD
	echo "[core]" >"$p"/.git/config
	echo '{ "network": { "allowedDomains": [], "deniedDomains": [] }, "filesystem": {
		"denyRead": ["/usr/include"], "allowWrite": ["'"$p"'"], "denyWrite": ["'"$p"'/kept"] } }' >"$p"/settings
	echo kept >"$p"/kept; echo secret >"$p"/secret
	chown -R "$(stat -c %u:%g "$p")" "$p"
	# with BIN OPTION... -- CMD: BIN first on PATH; a TMPDIR that is not above HOME
	with() {
		path=$1; shift
		as "$caller" "$oc" run --stdin null --project "$p" --ro "$modules" --ro "$work"/bin --mask secret "$@"
	}
	client='mkdir -p ~/tmp; export TMPDIR=~/tmp PATH="$1:$PATH"; shift; exec "$@"'
	for path in "$work"/bin /usr/bin; do
		[ -x "$path"/bwrap ] || { skip "$caller: with $path/bwrap" "it is not there"; continue; }
		run_codex() { with "$path" --nesting allow -- sh -c "$client" _ "$path" "$codex" sandbox "$@"; }
		if [ -x "$codex" ]; then
			is "$caller: codex with $path/bwrap" "$(run_codex -- sh -c 'echo hello; (echo x >x) 2>/dev/null || echo refused
				cat secret kept 2>/dev/null' 2>&1)" "hello
refused
kept"
			status "$caller: ... the status" 7 run_codex -- sh -c 'exit 7'
			is "$caller: ... writes the workspace, and no mask" "$(run_codex -c 'sandbox_mode="workspace-write"' -- sh -c '
				echo new >made && cat made; rm made; for f in secret .git/config /usr/x; do
				(echo x >>$f) 2>/dev/null && echo $f; done; echo end' 2>&1)" "new
end"
			fails "$caller: codex without the option" with "$path" -- sh -c "$client" _ "$path" "$codex" sandbox -- true
			[ "$path" = /usr/bin ] || like "$caller: ... says which" "$said" "*--nesting allow*"
		else
			skip "$caller: codex" "no @openai/codex in \$NSRUN_CLIENTS"
		fi
		if [ ! -f "$srt" ] || [ ! -x "$node" ]; then
			skip "$caller: srt" "no @anthropic-ai/sandbox-runtime in \$NSRUN_CLIENTS, or no node"
		elif ! command -v socat >/dev/null || ! command -v rg >/dev/null; then
			skip "$caller: srt" "it needs socat and rg"
		else
			run_srt() { with "$path" --network isolated "$@"; }
			is "$caller: srt with $path/bwrap" "$(run_srt --nesting allow -- sh -c "$client" _ "$path" "$node" "$srt" -s settings -c '
				echo hello; echo new >made && cat made; rm made; cat secret 2>/dev/null
				for f in kept secret .git/config /usr/x; do (echo x >>$f) 2>/dev/null && echo $f; done; ls /usr/include; exit 7' 2>&1
				echo $?)" "hello
new
7"
			fails "$caller: srt without the option" run_srt -- sh -c "$client" _ "$path" "$node" "$srt" -s settings -c true
			[ "$path" = /usr/bin ] || like "$caller: ... says which" "$said" "*--nesting allow*"
		fi
	done
	is "$caller: the project is as before" "$(cd "$p" && find . -type f | sort | tr '\n' ' '; cat "$p"/kept "$p"/secret)" \
		"./.git/HEAD ./.git/config ./kept ./secret ./settings kept
secret"
done
done_testing
