#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# opam's sandbox hook. opam carries the script as text and writes it when it
# makes a root; an opam that would have to compile one is not needed.
. "${srcdir:?}"/tests/lib.sh
. "$srcdir"/tests/clients/clients.sh
command -v opam >/dev/null || skip_all "no opam"
command -v bash >/dev/null || skip_all "no bash, which the hook is written for"

# An empty repository: no network, no compiler.
for caller in $callers; do
	H=$(home "$caller") P=$(project "$caller")
	client "$caller" sh -c 'mkdir -p ~/repo/packages/hello/hello.1 &&
		echo "opam-version: \"2.0\"" >~/repo/repo
		cat >~/repo/packages/hello/hello.1/opam' <<'EOF'
opam-version: "2.0"
build: [
  ["sh" "-c" "echo hello >greeting; (: >~/stray) || true"]
]
install: ["sh" "-c" "mkdir -p %{share}% && cp greeting %{share}%/"]
EOF
	client "$caller" sh -c '
		opam init --bare --no-setup --enable-shell-hook --root ~/root \
			--kind local default ~/repo' >"$work/log" 2>&1 </dev/null
	hook=$H/root/opam-init/hooks/sandbox.sh
	if [ ! -f "$hook" ]; then
		skip "$caller: opam init" "it made no hook: $(tail -n 1 "$work/log")"
		continue
	fi
	pass "$caller: opam init runs its own probe of the sandbox"
	unlike "$caller: ... and keeps the sandbox" "$(cat "$work/log")" "*disabl*"

	client "$caller" sh -c 'opam switch create one --empty --root ~/root &&
		opam install -y hello --root ~/root' >"$work/log" 2>&1 </dev/null
	is "$caller: a package is built and installed" \
		"$(cat "$H/root/one/share/greeting" 2>/dev/null || tail -n 5 "$work/log")" hello
	is "$caller: ... and wrote nowhere else" "$(find "$H" -name stray)" ""

	client "$caller" sh -c 'mkdir -p ~/root/switch/.opam-switch build'
	hooked() {	# COMMAND CMD...
		client "$caller" env OPAM_SWITCH_PREFIX="$H/root/switch" \
			sh -c 'cd build && exec "$@"' _ "$hook" "$@"
	}
	is "$caller: build writes its directory" \
		"$(hooked build sh -c 'echo built >made && cat made')" built
	fails "$caller: build does not write the switch" hooked build sh -c ': >~/root/switch/x'
	is "$caller: install writes the switch" \
		"$(hooked install sh -c 'echo put >~/root/switch/x && cat ~/root/switch/x')" put
	fails "$caller: install does not write opam's own" \
		hooked install sh -c ': >~/root/switch/.opam-switch/x'
	is "$caller: TMPDIR is private" "$(hooked build sh -c ': >"$TMPDIR/x"; ls "$TMPDIR"')" x
	is "$caller: remove takes away" "$(hooked remove sh -c 'rm ~/root/switch/x && echo gone')" gone
	is "$caller: the network is its own" \
		"$(hooked build sh -c 'tail -n +3 /proc/net/dev | cut -d: -f1' | tr -d ' ')" lo
	is "$caller: a C program is built" "$(hooked build sh -c '
		echo "int main(void) { return 7; }" >a.c
		cc -o a a.c 2>/dev/null || exit 77; ./a; echo $?')" \
		"$(command -v cc >/dev/null && echo 7)"
	status "$caller: the status" 31 hooked build sh -c 'exit 31'
	status "$caller: an unknown command is the hook's affair" 2 hooked nonsense true
done
leaves_nothing
done_testing
