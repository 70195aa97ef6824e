#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# @openai/codex from npm: `codex sandbox`, which needs no login. It takes the
# first bwrap on PATH, asks its --help, probes it, and enters by it a second
# stage of its own.
. "${srcdir:?}"/tests/lib.sh
. "$srcdir"/tests/clients/clients.sh
# The launcher is a script for node; what it starts is a static program.
for codex in "$node_modules"/@openai/codex-linux-*/vendor/*/bin/codex; do :; done
[ -x "$codex" ] || skip_all "no @openai/codex in \$NSRUN_CLIENTS"
diag "$("$codex" --version 2>/dev/null)"

# It keeps a directory and a lock in /tmp, whatever TMPDIR is.
in_tmp="/tmp/codex-daemon-* /tmp/codex-bwrap-synthetic-mount-targets-*"
# shellcheck disable=SC2086
there=$(ls -d $in_tmp 2>/dev/null)

mkdir "$work/logged"
cat >"$work/logged/bwrap" <<EOF
#!/bin/sh
printf '%s ' "\$@" >>"\$HOME/log"; echo >>"\$HOME/log"
exec "$bwrap" "\$@"
EOF
chmod 755 "$work/logged/bwrap"

for caller in $callers; do
	P=$(project "$caller") H=$(home "$caller") T=$work/$caller/tmp
	reachable "$caller" "$codex" || {
		skip "$caller: codex" "it cannot read $codex"; continue
	}
	client "$caller" sh -c 'mkdir -p .git ~/secret ~/masked; echo "[core]" >.git/config; echo key >~/secret/key
		cat >~/masked/config.toml' <<EOF
default_permissions = "masked"
[permissions.masked.filesystem]
":root" = "read"
"$H/secret" = "none"
"$P" = "write"
EOF
	codex() { client "$caller" "$codex" sandbox "$@"; }
	write='sandbox_mode="workspace-write"'
	before_tree=$(tree "$caller" project)

	is "$caller: a command" "$(codex -- echo hello 2>&1)" hello
	status "$caller: the status" 7 codex -- sh -c 'exit 7'
	is "$caller: stdin" "$(echo in | codex -- cat)" in
	fails "$caller: read-only" codex -- sh -c 'echo x >x'
	is "$caller: workspace-write" "$(codex -c "$write" -- sh -c 'echo ok >made && cat made && rm made' 2>&1)" ok
	is "$caller: what is refused is" "$(codex -c "$write" -- sh -c 'for f in .git/config .codex/x .agents/x /usr/x; do
		(echo x >>"$f") 2>/dev/null && echo "$f"; done; echo end')" end
	masked() { client "$caller" env CODEX_HOME="$H/masked" "$codex" sandbox "$@"; }
	if masked -- true >"$work/log" 2>&1; then
		is "$caller: a hidden directory, a written project" \
			"$(masked -- sh -c 'ls ~/secret 2>/dev/null; echo ok >made && cat made && rm made')" ok
	else
		fail "$caller: a hidden directory" "$(tail -n 1 "$work/log")"
	fi
	is "$caller: its second stage" \
		"$(client "$caller" cp "$probe" probe
		codex -- ./probe try ptrace inet unix socketpair userns; rm -f "$P/probe")" \
		"ptrace EPERM inet EPERM unix OK socketpair OK userns OK"
	is "$caller: no warning" "$(codex -- true 2>&1)" ""

	client "$caller" env PATH="$work/logged:$PATH" "$codex" sandbox -- true >/dev/null 2>&1
	like "$caller: --help, a probe, and the command" "$(cut -c 1-30 "$H/log")" \
		"--help *
--as-pid-1 *
--as-pid-1 *"
	! names --argv0 || like "$caller: ... with --argv0" "$(cat "$H/log")" "*--argv0 codex-linux-sandbox*"
	is "$caller: nothing was left in its project" "$(tree "$caller" project)" "$before_tree"
done

# shellcheck disable=SC2086
for f in $(ls -d $in_tmp 2>/dev/null); do
	case "$newline$there$newline" in
	*"$newline$f$newline"*) ;;
	*) rm -f "$f/lock"; rmdir "$f" ;;
	esac
done
leaves_nothing
done_testing
