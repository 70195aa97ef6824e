#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Each real caller's argv, replayed without the caller, and whether what it
# parses and what it relies on is there. The words are in argv.rows.
. "${srcdir:?}"/tests/lib.sh
. "$srcdir"/tests/clients/clients.sh
newline='
'

# The words of a caller, one a line: argv NAME
argv() {
	P=$(project "$caller") H=$(home "$caller") T=$work/$caller/tmp
	U=$(as "$caller" id -u) G=$(as "$caller" id -g)
	sed -n "/^\[$1]\$/,/^\[/{/^\[/d;/^#/d;/^\$/d;p;}" "$here/argv.rows" |
	while IFS= read -r line; do
		guard=${line%% *} path=${line%% *}; path=${path#??}
		case $guard in
		\?root | \?user) [ "$guard" = "?$caller" ] || continue ;;
		\?l/*) [ -L "$path" ] || continue ;;
		\?d/*) [ -d "$path" ] && [ ! -L "$path" ] || continue ;;
		\?e/*) [ -e "$path" ] || continue ;;
		esac
		case $guard in \?*) line=${line#* } ;; esac
		eval "printf '%s\\n' $line"
	done
}
args_file() { argv "$1" | tr '\n' '\0'; }

# run NAME FDS CMD...: as that caller runs it, with these descriptors alone
run() {
	name=$1 fds=$2; shift 2
	before=$IFS; IFS=$newline; set -f
	# shellcheck disable=SC2046
	set -- $(argv "$name") "$@"
	set +f; IFS=$before
	as "$caller" "$probe" only "$fds" timeout -k 5 30 bwrap "$@"
}
# own CMD...: as the caller, in its project, to prepare and to look
own() { as "$caller" "$@"; }
# Has the command no capabilities where the caller did not say --cap-drop?
drops_caps() { [ "$caller" = user ] || names --forward-signals; }
# Words on one line, whatever stands between them.
words() { tr -s '\n\t ' '   ' | sed 's/ $//'; }
# isnt WHAT GOT NOT
isnt() { if [ "$2" != "$3" ]; then pass "$1"; else fail "$1" "got: $2"; fi; }

# A root of its own: programs and what they need, copied.
sysroot() {
	mkdir -p "$1/bin" "$1/lib"
	for sysroot_program in "$probe" sh ls cat id stat readlink env rm; do
		sysroot_program=$(command -v "$sysroot_program")
		cp -L "$sysroot_program" "$1/bin/"
		ldd "$sysroot_program" 2>/dev/null |
			sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p'
	done | sort -u | while read -r library; do cp -L "$library" "$1/lib/"; done
	# The loader, where the kernel looks for it.
	loader=$(ldd "$probe" | sed -n 's/^[[:blank:]]*\(\/[^ ]*\) .*/\1/p')
	cp -L "$loader" "$1/lib/${loader##*/}"
	ln -s lib "$1/lib64"
}
sysroot "$work/sysroot" >/dev/null 2>&1

prepare() {
	P=$(project "$caller") H=$(home "$caller") T=$work/$caller/tmp
	own sh -c '
		umask 022; T=$1
		mkdir -p .git/hooks .git/objects .git/refs locked forbidden sub .claude
		echo ref: refs/heads/main >.git/HEAD; echo "[core]" >.git/config
		echo no >locked/file; echo no >forbidden/file; echo no >forbidden.txt
		echo SECRET=1 >.env; echo SECRET=2 >sub/.env.local; echo SECRET=3 >secret.env
		echo deny >.claude/settings.json; echo picture >picture.png
		mkdir -p ~/secret ~/.var/cache/tmp ~/switch ~/.cargo
		echo hidden >~/secret/key; echo shown >~/secret/public
		echo token >~/token; echo real >~/credentials
		echo sentinel >"$T/fake"; : >"$T/mask"; chmod 000 "$T/mask"
		mkdir "$T/empty" "$T/daemon" "$T/.git" "$T/.codex" "$T/targets" \
			"$T/thumb" "$T/out" "$T/instance" "$T/xdg-run" "$T/app-tmp" \
			.agents .codex result
		chmod 700 "$T/daemon"
		: >"$T/instance/.ref"; echo "[Application]" >"$T/instance/info"
		echo tester:x:1:1::/:/bin/sh >"$T/passwd"
		ln -s ../../../.flatpak-info "$T/xdg-run/flatpak-info"
		cp "$2" "$T/probe"; cp "$2" probe
	' _ "$T" "$probe"
	for filter in codex flatpak gemini openclaudia; do
		"$probe" filter $filter >"$work/$filter.bpf"
	done
}

srt() {
	like "$caller: srt: --version is parsed" \
		"$(bwrap --version | grep -Eo '[0-9]+(\.[0-9]+)*' | head -n 1)" "[01].[1-9]*"
	like "$caller: srt: --help names --disable-userns" "$(bwrap --help 2>&1)" "*--disable-userns*"
	ok "$caller: srt: the probe for CAP_SETFCAP" \
		own bwrap --unshare-user --dev-bind / / true

	own timeout 30 "$probe" serve "$T/http.sock" >"$work/served" 2>&1 &
	for _ in $(seq 50); do [ -S "$T/http.sock" ] && break; sleep 0.1; done
	is "$caller: srt: the proxy's socket is reached" \
		"$(run srt - "$probe" connect "$T/http.sock")" hello
	wait
	is "$caller: srt: lo is up" "$(run srt - "$probe" lo)" up
	like "$caller: srt: /proc/net/sockstat" "$(run srt - cat /proc/net/sockstat)" "sockets: used*"

	is "$caller: srt: project is written" "$(run srt - sh -c 'echo new >made && cat made'; cat "$P/made")" "new
new"
	for f in .git/config .git/hooks/x locked/file .claude/x .bashrc .mcp.json "$H/x" /usr/x; do
		fails "$caller: srt: no write to $(basename "$f")" run srt - sh -c 'echo x >>"$1"' _ "$f"
	done
	is "$caller: srt: a hidden directory shows what is allowed" \
		"$(run srt - ls -A "$H/secret")" public
	is "$caller: srt: ... which can be read" "$(run srt - cat "$H/secret/public")" shown
	is "$caller: srt: a hidden file is empty" "$(run srt - cat "$H/token" 2>/dev/null)" ""
	is "$caller: srt: a masked file shows the sentinel" "$(run srt - cat "$H/credentials")" sentinel
	is "$caller: srt: the environment" "$(API_KEY=1 MASKED_KEY=1 run srt - sh -c \
		'echo "${API_KEY-unset} $MASKED_KEY $TMPDIR $GIT_SSH_COMMAND"')" \
		"unset sentinel /tmp/claude ssh -o ControlPath=none -o ProxyCommand='socat - PROXY:localhost:%h:%p,proxyport=3128'"
	status "$caller: srt: the status" 7 run srt - sh -c 'exit 7'
	status "$caller: srt: a signal" 143 run srt - sh -c 'kill -TERM $$'
	status "$caller: srt: no such command" 1 run srt - /no/such/command
	like "$caller: srt: ... is told" "$said" "bwrap: execvp /no/such/command: No such file or directory"
	is "$caller: srt: no descriptor" "$(run srt - "$probe" fds)" "0 1 2"
	if [ "$caller" = root ]; then
		is "$caller: srt: CAP_SETFCAP alone" \
			"$(run srt - "$probe" caps | cut -f 2 | sort -u)" 0000000080000000
	else
		is "$caller: srt: no capabilities" "$(run srt - "$probe" caps)" none
	fi

	# 0 is a session outside.
	is "$caller: srt: a session of its own" "$(run srt - cut -d' ' -f6 /proc/self/stat)" 1

	# The helper: a process's view of itself is its second line of defence.
	got=$(run srt - "$probe" helper sh -c 'ls /proc | grep -c "^[0-9]"; exit 7')
	is "$caller: srt: the helper's status" $? 7
	if [ "$caller" = user ]; then
		is "$caller: srt: the helper mounts its own /proc" "${got%%"$newline"*}" "proc fresh"
		ok "$caller: srt: ... and no process shows but its own" test "${got##*"$newline"}" -le 9
	else
		# What is writable there is covered for it, so that it cannot.
		is "$caller: srt: the helper's /proc is refused" "${got%%"$newline"*}" "proc EPERM"
		fails "$caller: srt: /proc/sysrq-trigger is covered" run srt - \
			sh -c ': >/proc/sysrq-trigger'
	fi
	is "$caller: srt: the helper's filters" \
		"$(run srt - "$probe" helper "$probe" try mount userns setns clone3 unix inet | tail -n 1)" \
		"mount EPERM userns EPERM setns EPERM clone3 ENOSYS unix EPERM inet OK"
	is "$caller: srt: the helper's command writes the project" \
		"$(run srt - "$probe" helper sh -c 'echo helped >made && cat made' | tail -n 1)" helped
	fails "$caller: srt: ... and nothing else" run srt - "$probe" helper sh -c 'echo x >>locked/file'

	# Two at once over the same absent files: the first to end takes nothing away.
	run srt - sh -c 'echo up; read -r _; echo x >>.bashrc' <"$work/fifo" >"$work/second" 2>&1 &
	exec 9>"$work/fifo"
	eventually "$caller: srt: a second one runs" grep -q up "$work/second"
	run srt - true
	echo go >&9; exec 9>&-
	wait $!; isnt "$caller: srt: its masks outlive the first" $? 0
	# As srt does after the last one, if bwrap has not.
	for f in .gitconfig .gitmodules .bashrc .mcp.json .vscode; do
		[ ! -e "$P/$f" ] || [ -s "$P/$f" ] || rm -f "$P/$f"
	done

	argv srt | sed -n '/^--ro-bind$/,/^--dev$/p' | sed '$d' | tr '\n' '\0' >"$T/args"
	got=$(before=$IFS; IFS=$newline; set -f
		# shellcheck disable=SC2046
		set -- $(argv srt-args) sh -c 'cat "$1"; ls -A "$2"; "$3" fds; echo x >>locked/file' \
			_ "$H/credentials" "$H/secret" "$probe"
		own "$probe" only - timeout 30 /bin/sh -c 'exec 9<"$1" && shift && exec "$@"' \
			srt-args "$T/args" bwrap "$@" 2>/dev/null)
	isnt "$caller: srt: mounts from a file: the status" $? 0
	is "$caller: srt: mounts from a file" "$(echo "$got" | words)" "sentinel public 0 1 2"
	for f in .gitconfig .gitmodules .bashrc .mcp.json .vscode; do rm -f "$P/$f"; done

	is "$caller: srt: without its helper no user namespace" \
		"$(run srt-no-helper - "$probe" try userns)" "userns ENOSPC"
	is "$caller: srt: weaker: the outer /proc is visible" \
		"$(run srt-weaker - sh -c '[ -e "/proc/$1/stat" ] && echo yes' _ $$)" yes
	is "$caller: srt: weaker: a new file anywhere it may" \
		"$(run srt-weaker - sh -c 'echo weak >"$1" && cat "$1"' _ "$H/weak")" weak
	fails "$caller: srt: weaker: denied all the same" run srt-weaker - sh -c 'echo x >locked/file'
	rm -f "$H/weak" "$P/made" "$T/http.sock" "$T/args"
}

# The group's leader is killed: with it goes everything inside.
dies_with_parent() {
	: >"$work/second"
	run_in_background() {
		before=$IFS; IFS=$newline; set -f
		# shellcheck disable=SC2046
		set -- $(argv "$1") sh -c 'echo up; exec sleep 60'
		set +f; IFS=$before
		own "$probe" only - sh -c 'echo $$ >"$1"; shift; "$@"; :' _ "$T/parent" bwrap "$@"
	}
	run_in_background "$1" >"$work/fifo" 2>/dev/null &
	{ read -r up; kill -KILL "$(cat "$T/parent")"; timeout 10 cat; } <"$work/fifo" >/dev/null
	is "$caller: $1: everything ends with its parent" "$up $?" "up 0"
	wait
	rm -f "$T/parent"
}

codex() {
	needs --argv0 "$caller: codex: --help names --argv0" &&
		pass "$caller: codex: --help names --argv0"
	status "$caller: codex: its probe" 0 run codex-probe - /usr/bin/true
	is "$caller: codex: ... says nothing" "$said" ""
	# A container whose /proc is covered: codex falls back on these words.
	said=$(own unshare -Urm sh -c '
		for d in /proc/irq /proc/tty /proc/fs; do
			mount -t tmpfs none $d 2>/dev/null && break
		done; exec "$@"' _ \
		bwrap --ro-bind / / --dev /dev --unshare-user --unshare-pid --proc /proc true 2>&1)
	is "$caller: codex: a /proc that cannot be mounted: status" $? 1
	like "$caller: codex: ... and words" "$said" "bwrap: Can't mount proc on /newroot/proc: Operation not permitted"

	is "$caller: codex: read-only: a session of its own" "$(run codex-read-only - cut -d' ' -f6 /proc/self/stat)" 1
	is "$caller: codex: read-only: it is pid 1" "$(run codex-read-only - sh -c 'echo $$')" 1
	fails "$caller: codex: read-only: no write" run codex-read-only - sh -c 'echo x >x'
	is "$caller: codex: read-only: no descriptor" "$(run codex-read-only - "$probe" fds)" "0 1 2"

	is "$caller: codex: writes its workspace" "$(codex_run sh -c 'echo ok >made && cat made && rm made')" ok
	is "$caller: codex: ... and the other" "$(codex_run sh -c 'echo ok >$1/f && cat $1/f && rm $1/f' _ "$T")" ok
	for f in .git/config .agents/x .codex/x "$T/.git/x" "$T/.codex/x" "$T/targets/x" "$H/x" "$H/secret/x"; do
		fails "$caller: codex: no write to ${f#"$work"}" codex_run sh -c 'echo x >>"$1"' _ "$f"
	done
	is "$caller: codex: 555 for what is protected" "$(codex_run stat -c %a .codex .agents | words)" "555 555"
	is "$caller: codex: 000 for what is hidden" "$(codex_run stat -c %a "$T/daemon" "$H/secret" "$H/token" | words)" "0 0 0"
	fails "$caller: codex: a hidden directory is not listed" codex_run ls "$H/secret"
	fails "$caller: codex: a hidden file is not read" codex_run cat "$H/token"
	is "$caller: codex: remounted read-only" "$(codex_run sh -c '
		while read -r _ _ _ _ at options _; do
			case $at in */daemon|*/.codex) echo "${options%%,*}" ;; esac
		done </proc/self/mountinfo' | sort -u)" ro
	is "$caller: codex: no capabilities" "$(codex_run "$probe" caps)" none
	is "$caller: codex: no descriptor" "$(codex_run "$probe" fds)" "0 1 2"
	is "$caller: codex: the second stage" \
		"$(codex_run "$probe" inner codex "$probe" try ptrace inet unix socketpair keyctl userns)" \
		"ptrace EPERM inet EPERM unix OK socketpair OK keyctl EOPNOTSUPP userns OK"
	status "$caller: codex: the status" 3 codex_run "$probe" inner codex sh -c 'exit 3'
	needs --argv0 "$caller: codex: --argv0" &&
		is "$caller: codex: --argv0" "$(run codex-workspace-write 7=/dev/null --argv0 codex-linux-sandbox \
			-- "$probe" argv0)" codex-linux-sandbox
	dies_with_parent codex-read-only
}
codex_run() { run codex-workspace-write 7=/dev/null -- "$@"; }

# exec bwrap --args 8 "$@" 8< "$args_path" 9< "$bpf_path"
gemini_run() {
	own rm -f was-never-there	# the link stays, and 0.8 minds
	args_file gemini >"$work/args"
	own "$probe" only - sh -c 'bpf_path="$1"; args_path="$2"; shift 2
		exec timeout 30 bwrap --args 8 "$@" 8< "$args_path" 9< "$bpf_path"' _ \
		"$work/gemini.bpf" "$work/args" -- "$@"
}
gemini() {
	is "$caller: gemini: writes its workspace" "$(gemini_run sh -c 'echo ok >made && cat made && rm made')" ok
	is "$caller: gemini: a /tmp of its own" "$(gemini_run sh -c 'echo ok >/tmp/f && ls -A /tmp' | words)" \
		"$(case $work in /tmp/*) printf 'f %s' "$(echo "$work" | cut -d/ -f3)" ;; *) printf f ;; esac)"
	for f in .git/config /usr/y forbidden/x forbidden.txt .env; do
		# bubblewrap leaves root its capabilities: 000 is nothing to them.
		[ "$f" != .env ] || drops_caps || continue
		fails "$caller: gemini: no write to $f" gemini_run sh -c 'echo x >>"$1"' _ "$f"
	done
	is "$caller: gemini: a forbidden directory is empty" "$(gemini_run ls -A forbidden)" ""
	is "$caller: gemini: a forbidden file too" "$(gemini_run sh -c 'cat forbidden.txt' 2>/dev/null)" ""
	is "$caller: gemini: a link in place of what is absent" \
		"$(gemini_run readlink was-never-there)" /dev/null
	drops_caps && is "$caller: gemini: .env says nothing" "$(gemini_run sh -c 'cat .env sub/.env.local' 2>/dev/null)" ""
	is "$caller: gemini: .env is 000" "$(gemini_run stat -c %a .env)" 0
	is "$caller: gemini: its filter" "$(gemini_run ./probe try ptrace unix inet)" "ptrace EPERM unix OK inet OK"
	is "$caller: gemini: no network but lo" "$(gemini_run sh -c 'tail -n +3 /proc/net/dev | cut -d: -f1' | words)" " lo"
	is "$caller: gemini: no descriptor" "$(gemini_run ./probe fds)" "0 1 2"
	is "$caller: gemini: words with blanks and newlines" "$(gemini_run printf '%s|' 'a  b' '' "c${newline}d")" "a  b||c${newline}d|"
	is "$caller: gemini: stdin" "$(echo in | gemini_run cat)" in
	status "$caller: gemini: the status" 9 gemini_run sh -c 'exit 9'
	own rm -f was-never-there
}

# As its relay: two lines, no more, no less.
qwen_relay() {
	run qwen "3+$T/json" "$@" >"$work/out" 2>&1
	rc=$?
	/usr/bin/env python3 - "$T/json" $rc <<'EOF' 2>&1
import json, sys
data = open(sys.argv[1], "rb").read()
lines = data.split(b"\n")
assert len(data) <= 16384 and len(lines) == 3 and lines[2] == b"", data
first, second = json.loads(lines[0]), json.loads(lines[1])
assert type(first["child-pid"]) is int and first["child-pid"] > 0, first
assert second["exit-code"] == int(sys.argv[2]), second
print("confirmed", second["exit-code"])
EOF
}
qwen() {
	if /usr/bin/env python3 -c 0 2>/dev/null; then
		is "$caller: qwen: status 0 in JSON" "$(qwen_relay true)" "confirmed 0"
		is "$caller: qwen: status 7" "$(qwen_relay sh -c 'exit 7')" "confirmed 7"
		is "$caller: qwen: a signal" "$(qwen_relay sh -c 'kill -KILL $$')" "confirmed 137"
		unlike "$caller: qwen: no such command" "$(qwen_relay /no/such/command)" "confirmed*"
	else
		skip "$caller: qwen: JSON" "no python3"
	fi
	run qwen "3+$T/json" true
	is "$caller: qwen: keys of the first line" "$(sed -n 1p "$T/json" | grep -o '"[a-z-]*"' | words)" \
		'"child-pid" "mnt-namespace" "net-namespace" "pid-namespace"'
	run qwen "3+$T/json" /no/such/command 2>/dev/null
	is "$caller: qwen: no such command: no exit-code" "$(grep -c exit-code "$T/json")" 0
	is "$caller: qwen: writes its workspace" "$(run qwen "3+$T/json" sh -c 'echo ok >made && cat made && rm made')" ok
	fails "$caller: qwen: nothing else" run qwen "3+$T/json" sh -c 'echo x >~/x'
	is "$caller: qwen: a mask" "$(run qwen "3+$T/json" ls -A "$H/secret")" ""
	is "$caller: qwen: --chdir" "$(run qwen "3+$T/json" pwd)" "$P"
	is "$caller: qwen: no descriptor" "$(run qwen "3+$T/json" "$probe" fds)" "0 1 2"
	rm -f "$T/json"
}

mastra() {
	is "$caller: mastra: sh -c in the workspace" "$(run mastra - sh -c 'pwd; echo ok >made && cat made && rm made')" "$P
ok"
	fails "$caller: mastra: /usr is not written" run mastra - sh -c ': >/usr/x'
	is "$caller: mastra: what is absent is left out" "$(run mastra - sh -c '[ -e /etc/no-such-thing ] || echo absent')" absent
	fails "$caller: mastra: the home is not there" run mastra - ls "$H/secret"
	is "$caller: mastra: the root" "$(run mastra - ls / | words)" \
		"$(for d in bin dev etc lib lib64 proc sbin "$(echo "$work" | cut -d/ -f2)" usr tmp; do
			[ ! -e "/$d" ] || echo "$d"; done | sort -u | words)"
	status "$caller: mastra: the status" 5 run mastra - sh -c 'exit 5'
}

opam() {
	is "$caller: opam: no -- before the command" "$(run opam - sh -c 'echo ok >made && cat made && rm made')" ok
	is "$caller: opam: TMPDIR" "$(run opam - sh -c 'echo $TMPDIR; : >$TMPDIR/f && ls -A /opam-tmp')" "/opam-tmp
f"
	fails "$caller: opam: the switch is read-only" run opam - sh -c ': >~/switch/x'
	fails "$caller: opam: so is /tmp" run opam - sh -c ': >/tmp/x'
	status "$caller: opam: the status" 20 run opam - sh -c 'exit 20'
	dies_with_parent opam
}

thumbnailer() {
	is "$caller: thumbnailer: reads and writes" "$(run thumbnailer "5=$work/gemini.bpf" sh -c '
		cat /tmp/gnome-desktop-file-to-thumbnail.png >/tmp/out; cat /tmp/out'; cat "$T/thumb/out")" "picture
picture"
	is "$caller: thumbnailer: //" "$(run thumbnailer "5=$work/gemini.bpf" readlink /bin /lib64 2>&1 | words)" \
		"$(for d in /bin /lib64; do [ ! -L $d ] || echo "/usr/$d"; done | words)"
	is "$caller: thumbnailer: its filter" "$(run thumbnailer "5=$work/gemini.bpf" "$work/none" 2>&1)" \
		"bwrap: execvp $work/none: No such file or directory"
	is "$caller: thumbnailer: the home is not there" "$(run thumbnailer "5=$work/gemini.bpf" sh -c 'ls -d ~/* 2>/dev/null')" ""
	rm -f "$T/thumb/"*
}

mat2() {
	is "$caller: mat2: out of an empty directory" "$(run mat2 - sh -c 'cat picture.png >result/cleaned'; cat "$T/out/cleaned")" picture
	fails "$caller: mat2: cwd is read-only" run mat2 - sh -c ': >x'
	is "$caller: mat2: --cap-drop all" "$(run mat2 - sh -c 'grep CapEff /proc/self/status')" "CapEff:	0000000000000000"
	rm -f "$T/out/"*
}

ansible_runner() {
	is "$caller: ansible-runner: a relative destination" \
		"$(run ansible-runner - sh -c '[ -c /dev/null ] && : >/dev/null && echo made')" made
	is "$caller: ansible-runner: the host's devices" "$(run ansible-runner - sh -c 'ls /dev' | words)" "$(ls /dev | words)"
	is "$caller: ansible-runner: a relative link" "$(run ansible-runner - sh -c 'readlink /lib64 || echo none')" \
		"$(if [ -L /lib64 ]; then echo usr/lib64; else echo none; fi)"
	is "$caller: ansible-runner: its directory" "$(run ansible-runner - sh -c 'pwd; echo ok >made && cat made && rm made')" "$P
ok"
}

buildstream() {
	own cp -R "$work/sysroot" "$T/sysroot"
	own mkdir "$T/sysroot/build" "$T/sysroot/proc" "$T/sysroot/tmp" "$T/sysroot/dev"
	is "$caller: buildstream: root inside" "$(run buildstream - /bin/sh -c 'id -u; id -g' | words)" "0 0"
	is "$caller: buildstream: cwd and host name" "$(run buildstream - /bin/sh -c 'pwd; cat /proc/sys/kernel/hostname' | words)" \
		"/build buildstream"
	fails "$caller: buildstream: / is read-only" run buildstream - /bin/sh -c ': >/x'
	is "$caller: buildstream: /tmp is not" "$(run buildstream - /bin/sh -c ': >/tmp/x && ls /tmp')" x
	is "$caller: buildstream: nothing else is mounted" "$(run buildstream - /bin/ls / | words)" \
		"bin build dev lib lib64 proc tmp"
	rm -rf "$T/sysroot"
}

openclaudia_fds() {
	echo "198=$work/openclaudia.bpf,200@$P,201@$T,202@$P/.git/HEAD,203@$P/.git/objects,204@$P/.git/refs"
}
openclaudia_run() { run openclaudia "$(openclaudia_fds)" "$@"; }
openclaudia() {
	status "$caller: openclaudia: its probe" 0 run openclaudia-probe "198=$work/openclaudia.bpf,200@/" /usr/bin/true
	is "$caller: openclaudia: ... says nothing" "$said" ""
	is "$caller: openclaudia: writes its project" "$(openclaudia_run bash -c 'echo ok >made && cat made && rm made')" ok
	is "$caller: openclaudia: ... and its temporary directory" "$(openclaudia_run sh -c 'echo ok >$TMPDIR/f && cat $TMPDIR/f && rm $TMPDIR/f')" ok
	is "$caller: openclaudia: .git, what is left of it" "$(openclaudia_run sh -c 'ls -A .git; stat -c %a .git; cat .git/HEAD' | words)" \
		"HEAD objects refs 555 ref: refs/heads/main"
	fails "$caller: openclaudia: .git is not written" openclaudia_run sh -c 'echo x >.git/HEAD'
	fails "$caller: openclaudia: nothing is added to it" openclaudia_run sh -c ': >.git/config'
	is "$caller: openclaudia: a hidden directory" "$(openclaudia_run ls -A .claude)" ""
	is "$caller: openclaudia: a hidden file" "$(openclaudia_run cat secret.env)" ""
	is "$caller: openclaudia: the root" "$(openclaudia_run ls -A / | words)" \
		"$(for d in bin dev lib lib64 proc run sbin tmp usr "$(echo "$work" | cut -d/ -f2)"; do
			[ "$d" != lib64 ] || [ -e /lib64 ] || continue; echo "$d"; done | sort -u | words)"
	is "$caller: openclaudia: no descriptor" "$(openclaudia_run "$T/probe" fds)" "0 1 2"
	is "$caller: openclaudia: its filter" "$(openclaudia_run "$T/probe" try mount userns ptrace unix inet socketpair keyctl setns)" \
		"mount EPERM userns EPERM ptrace EPERM unix EPERM inet EPERM socketpair EPERM keyctl EPERM setns EPERM"
	is "$caller: openclaudia: no capabilities" "$(openclaudia_run "$T/probe" caps)" none
	is "$caller: openclaudia: host name" "$(openclaudia_run cat /proc/sys/kernel/hostname)" openclaudia-sandbox
	is "$caller: openclaudia: environment" "$(SSH_AUTH_SOCK=x openclaudia_run sh -c 'echo "${SSH_AUTH_SOCK-unset} $HOME $OPENCLAUDIA_SANDBOX"')" \
		"unset $H 1"
	is "$caller: openclaudia: under its limits" "$(own "$probe" rlimits sh -c 'ulimit -n; ulimit -v')" "1024
4194304"
	before=$IFS; IFS=$newline; set -f
	# shellcheck disable=SC2046
	set -- $(argv openclaudia) sh -c 'ulimit -n; ulimit -v; ulimit -c'
	set +f; IFS=$before
	if grep -q __asan_init "$bwrap"; then
		skip "$caller: openclaudia: ... and inside" \
			"AddressSanitizer does not fit a command's limits"
	else
		is "$caller: openclaudia: ... and inside" "$(own "$probe" only "$(openclaudia_fds)" \
			"$probe" rlimits timeout 30 bwrap "$@" | words)" "1024 4194304 0"
	fi
	# A project that is moved away under it stays the one that was opened.
	is "$caller: openclaudia: a daemon does not outlive it" "$(openclaudia_run sh -c 'sleep 60 >/dev/null 2>&1 & echo left')" left
	dies_with_parent_fds
}
dies_with_parent_fds() {
	before=$IFS; IFS=$newline; set -f
	# shellcheck disable=SC2046
	set -- $(argv openclaudia) sh -c 'sleep 60 & echo up; exec sleep 300'
	set +f; IFS=$before
	own "$probe" only "$(openclaudia_fds)" sh -c 'echo $$ >"$1"; shift; "$@"; :' _ \
		"$T/parent" bwrap "$@" >"$work/fifo" 2>/dev/null &
	{ read -r up; kill -KILL "$(cat "$T/parent")"; timeout 10 cat; } <"$work/fifo" >/dev/null
	is "$caller: openclaudia: everything ends with its parent" "$up $?" "up 0"
	wait
	rm -f "$T/parent"
}

flatpak_run() {
	args_file flatpak >"$work/args"
	own "$probe" only "9,21@$T/usr,22@$T/app,23=$T/passwd,26=$work/flatpak.bpf,30=$T/instance/info,31=$T/instance/info,33+$T/instance/bwrapinfo.json" \
		"$probe" memfd 37 "$work/args" env -i "$bwrap" --args 37 -- "$@"
}
# As portals see it: the locks, the pipe, the pid, the root behind the pid.
flatpak_runs() {
	for f in usr/.ref app/.ref instance/.ref; do
		is "$caller: flatpak: $f is held" "$(own "$probe" locked "$T/$f")" held
	done
	info=$(cat "$T/instance/bwrapinfo.json")
	is "$caller: flatpak: the keys of info-fd" "$(echo "$info" | grep -o '"[a-z-]*"' | words)" \
		'"child-pid" "ipc-namespace" "mnt-namespace" "net-namespace" "pid-namespace"'
	like "$caller: flatpak: ... its layout" "$info" "{
    \"child-pid\": [0-9]*,
    \"ipc-namespace\": *
}"
	pid=$(echo "$info" | sed -n 's/.*"child-pid": \([0-9]*\).*/\1/p')
	is "$caller: flatpak: its root by its pid" "$(own cat "/proc/$pid/root/.flatpak-info")" "[Application]"
	is "$caller: flatpak: its namespace by the number" "$(own readlink "/proc/$pid/ns/net")" \
		"net:[$(echo "$info" | sed -n 's/.*"net-namespace": \([0-9]*\).*/\1/p')]"
	exec 8<"$work/sync"
	timeout 10 sh -c 'echo go >"$1"' _ "$work/stdin"
	timeout 10 cat <&8
	is "$caller: flatpak: the pipe ends with init" $? 0
	exec 8<&-
	eventually "$caller: flatpak: then the locks are free" \
		sh -c 'test "$("$1" locked "$2")" = free' _ "$probe" "$T/usr/.ref"
}
flatpak() {
	own cp -R "$work/sysroot" "$T/usr"
	own sh -c ': >"$1/usr/.ref"; mkdir "$1/app"; : >"$1/app/.ref"' _ "$T"
	exec 9>/dev/null
	is "$caller: flatpak: the environment, whole" "$(flatpak_run env | sort)" "$(printf '%s\n' \
		FLATPAK_ID=org.oc.App HOME="$H" LD_LIBRARY_PATH=/app/lib PATH=/app/bin:/usr/bin \
		"PS1=[📦 \$FLATPAK_ID \\W]\\$ " PWD="$H" XDG_CONFIG_DIRS=/app/etc/xdg:/etc/xdg \
		"XDG_RUNTIME_DIR=/run/user/$(own id -u)" container=flatpak | sort)"
	is "$caller: flatpak: no descriptor" "$(flatpak_run probe fds)" "0 1 2"
	is "$caller: flatpak: the filter" "$(flatpak_run probe try ptrace userns mount chroot tiocsti clone3 inet)" \
		"ptrace OK userns EPERM mount EPERM chroot EPERM tiocsti EPERM clone3 ENOSYS inet OK"
	is "$caller: flatpak: .flatpak-info" "$(flatpak_run cat /.flatpak-info /run/user/"$(own id -u)"/flatpak-info)" "[Application]
[Application]"
	fails "$caller: flatpak: ... is read-only" flatpak_run sh -c 'echo x >/.flatpak-info'
	is "$caller: flatpak: data" "$(flatpak_run cat /etc/passwd)" "$(cat "$T/passwd")"
	is "$caller: flatpak: modes" "$(flatpak_run stat -c %a /tmp /run/host /var /.flatpak-info /etc/passwd | words)" \
		"$(stat -c %a "$T/app-tmp") 755 755 600 600"
	is "$caller: flatpak: the user namespace" "$(flatpak_run sh -c '[ -e /run/.userns ] && echo bound')" bound
	fails "$caller: flatpak: /usr is read-only" flatpak_run sh -c ': >/usr/x'
	is "$caller: flatpak: ~/.var is not" "$(flatpak_run sh -c 'echo ok >~/.var/f && cat ~/.var/f && rm ~/.var/f')" ok
	status "$caller: flatpak: the status" 42 flatpak_run sh -c 'exit 42'
	status "$caller: flatpak: no such command" 1 flatpak_run nosuch
	like "$caller: flatpak: ... is told" "$said" "bwrap: execvp nosuch: No such file or directory"

	exec 9>&-
	own rm -f "$T/instance/bwrapinfo.json"
	{ flatpak_run sh -c 'echo up; read -r _' <>"$work/stdin"; } 9<>"$work/sync" >"$work/fifo" 2>&1 &
	{ read -r up; } <"$work/fifo"
	is "$caller: flatpak: runs" "$up" up
	[ "$up" != up ] || flatpak_runs
	wait
	rm -rf "$T/usr" "$T/app"

	# The proxy keeps its end of the pipe.
	is "$caller: flatpak: its proxy" "$(args_file flatpak-proxy >"$work/args"
		own "$probe" only "35=$T/instance/info,38+$T/ready" "$probe" memfd 36 "$work/args" \
			bwrap --args 36 -- "$T/probe" fds)" "0 1 2 38"
	is "$caller: flatpak: ... with the information" "$(own "$probe" only "35=$T/instance/info" \
		"$probe" memfd 36 "$work/args" bwrap --args 36 -- cat /.flatpak-info)" "[Application]"
	is "$caller: flatpak: a trigger" "$(run flatpak-trigger - sh -c 'echo ok >made && cat made && rm made')" ok
	fails "$caller: flatpak: ... writes nothing else" run flatpak-trigger - sh -c 'echo x >~/x'
	rm -f "$T/ready"
}

mkfifo "$work/fifo" "$work/sync" "$work/stdin"
chmod 666 "$work/fifo" "$work/sync" "$work/stdin"
for caller in $callers; do
	prepare
	before_tree=$(tree "$caller")
	for replayed in ${REPLAY:-srt codex gemini qwen mastra opam thumbnailer mat2 \
		ansible_runner buildstream openclaudia flatpak}; do
		$replayed
	done
	is "$caller: nothing was left in its home" "$(tree "$caller")" "$before_tree"
done
leaves_nothing
done_testing
