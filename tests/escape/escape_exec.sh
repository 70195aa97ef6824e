#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# What exec hands down: environment, descriptors, streams, signals, argv.
. "$srcdir"/tests/lib.sh
. "$srcdir"/tests/escape/escape.sh

run() {
	# shellcheck disable=SC2086
	as "$who" "$oc" run --project "$project" $as_option "$@"
}

plant() {
	# Names alone: values are what is searched for.
	for name in GITHUB_TOKEN OPENAI_API_KEY AWS_SECRET_ACCESS_KEY \
	    SSH_AUTH_SOCK DBUS_SESSION_BUS_ADDRESS DISPLAY WAYLAND_DISPLAY \
	    http_proxy HTTPS_PROXY no_proxy XDG_RUNTIME_DIR KUBECONFIG \
	    GOOGLE_APPLICATION_CREDENTIALS DOCKER_HOST PGPASSWORD NPM_TOKEN \
	    OPENCLAUDIA_SESSION LISTEN_FDS LISTEN_PID NOTIFY_SOCKET; do
		printf ' %s=planted-value' "$name"
	done
	for name in LD_PRELOAD LD_AUDIT LD_LIBRARY_PATH GLIBC_TUNABLES \
	    BASH_ENV ENV PS4 PROMPT_COMMAND PYTHONPATH PYTHONSTARTUP \
	    PERL5OPT PERL5DB RUBYOPT NODE_OPTIONS JAVA_TOOL_OPTIONS \
	    _JAVA_OPTIONS JDK_JAVA_OPTIONS GIT_DIR GIT_SSH_COMMAND \
	    GIT_EXTERNAL_DIFF PAGER LESSOPEN EDITOR MAKEFLAGS RUSTC_WRAPPER \
	    CARGO_BUILD_RUSTC_WRAPPER GOFLAGS GCC_EXEC_PREFIX TAR_OPTIONS \
	    RSYNC_RSH npm_config_registry PIP_INDEX_URL TZ; do
		printf ' %s=:/planted-value' "$name"
	done
	for name in TMPDIR TMP TEMP XDG_CONFIG_HOME XDG_CACHE_HOME \
	    XDG_DATA_HOME XDG_STATE_HOME CARGO_HOME RUSTUP_HOME; do
		printf ' %s=/poisoned-planted-value' "$name"
	done
}

credentials() {
	(cd "$home" && mkdir -p .ssh .aws .docker .cargo .config/gh .gnupg &&
		for file in .netrc .ssh/id_rsa .gitconfig .aws/credentials \
		    .docker/config.json .npmrc .cargo/credentials.toml \
		    .bash_history .config/gh/hosts.yml; do
			echo secret >$file
		done) && own "$home"
}

environment() {
	credentials
	prefix="env -i PATH=$PATH HOME=$home USER=tester TERM=dumb LANG=C
		LC_ALL=C $(plant)"
	params='planted=planted-value'
	run_rows 'ENV-0[13]|ENV-07|ENV-09|ENV-10'
	params=
	prefix="$aide env LANG=a LANG=b =x NOEQUALS TERM=one TERM=two --"
	run_rows ENV-05
	prefix=
	for grant in LD_PRELOAD LD_LIBRARY_PATH ld_preload 'LD_PRELOAD ' \
	    'A,LD_PRELOAD' 'A LD_PRELOAD' BASH_ENV GITHUB_TOKEN github_token \
	    SSH_AUTH_SOCK HOME=/ PATH=/evil '' '=x' 'BASH_FUNC_ls%%=() { id; }' \
	    OPENCLAUDIA_X GLIBC_TUNABLES=a; do
		status "$mode: refused: --env '$grant' (ENV-06)" 125 \
			run --env "$grant" -- true
	done
	is "$mode: and an ordinary one is granted" \
		"$(run --env FINE=yes -- printenv FINE)" yes
}

# What one run left in /tmp is not there for the next.
fresh_tmp() {
	for place in sandbox outside; do
		params="left=/tmp/nsrun-escape-left"
		[ $place = outside ] && params="left=$dir/log/left"
		probe $place ENV-08.fresh >/dev/null
		got=$(probe $place ENV-08.fresh)
		case $place/$got in
		sandbox/'ENV-08.fresh blocked ENOENT'* | \
		outside/'ENV-08.fresh open'*)
			pass "$mode ENV-08.fresh in $place: $got" ;;
		*) fail "$mode ENV-08.fresh in $place" "$got" ;;
		esac
	done
	rm -f "$dir/log/left"
	params=
}

descriptors() {
	prefix="$aide fds 1000000 --"
	run_rows FD-01
	prefix="$aide closed --"
	run_rows FD-02
	prefix="$aide stdin rdonly $dir/outside/secret --"
	run_rows FD-03
	prefix="$aide odd --"
	run_rows FD-06
	echo 'what others wrote' >"$dir/log/log" && own "$dir/log/log"
	chmod 600 "$dir/log/log"
	prefix="$aide log $dir/log/log --"
	run_rows FD-04
	prefix=
	for kind in directory path; do
		# shellcheck disable=SC2086
		status "$mode: refused: standard input is a $kind (FD-03)" 125 \
			as "$who" "$aide" stdin $kind / -- "$oc" run \
			--project "$project" $as_option -- true
	done
	# The same through a descriptor that may write, as a shell's <> makes.
	for place in sandbox stdio; do
		echo before >"$dir/log/rdwr" && own "$dir/log/rdwr"
		prefix="$aide stdin rdwr $dir/log/rdwr --"
		launch $place sh -c 'echo inside >&0' 2>/dev/null
		is "$mode: standard input, open for writing, in $place (FD-03)" \
			"$(cat "$dir/log/rdwr")" "$([ $place = sandbox ] &&
			echo before || echo inside)"
	done
	prefix=
}

# A pipe on standard input that a shell of the host's reads on, after us: what
# the sandbox writes into it is that shell's next command. The terminal has
# TIOCSTI for this; a pipe has /proc/self/fd/0.
injection() {
	text='echo "echo INJECTED; exit" 2>/dev/null >/proc/self/fd/0'
	for place in sandbox outside; do
		command="sh -c '$text' 2>/dev/null"
		[ $place = sandbox ] && command="$oc run --project $project \
			$as_option -- $command"
		printf '%s\necho end\n' "$command" >"$dir/log/script"
		# shellcheck disable=SC2016
		got=$(as "$who" sh -c 'cat "$1" | sh' sh "$dir/log/script" 2>&1 |
			grep -c INJECTED)
		case $mode/$place in
		*/outside) is "$mode: outside it obeys (FD-03.pipe)" \
			"$got" 1 ;;
		root/*) is "$mode: no command for the host's shell (FD-03.pipe)" \
			"$got" 0 ;;
		*) is "$mode: no command for the host's shell (FD-03.pipe)" \
			"$got" 0 ;;
		esac
	done
	rm -f "$dir/log/script"
}

# Standard output is a pipe that others have written to: it is not read back.
stolen() {
	for place in sandbox outside; do
		# shellcheck disable=SC2086
		set -- "$oc" run --project "$project" $as_option --
		[ $place = outside ] && set --
		# shellcheck disable=SC2016
		got=$(as "$who" sh -c \
			'{ echo earlier; "$@" 2>/dev/null; } | { sleep 0.5; cat; }' \
			sh "$@" timeout 1 sh -c \
			'read -r line </proc/self/fd/1' 2>/dev/null)
		case $mode/$place in
		*/outside) is "$mode: outside it is (FD-04.pipe)" "$got" '' ;;
		*) is "$mode: output is not read back (FD-04.pipe)" \
			"$got" earlier ;;
		esac
	done
}

# Pid 1's, seen from the host by root: the way to the supervisor, no file.
init_descriptors() {
	[ "$(id -u)" = 0 ] || return
	# shellcheck disable=SC2086
	as "$who" "$aide" fds 1000000 -- sh -c 'exec "$@" 2>/dev/null 9>"$0"' \
		"$dir/log/status" "$oc" run --project "$project" --status-fd 9 \
		$as_option -- sleep 2 </dev/null >/dev/null 2>&1 &
	for _ in $(seq 100); do
		pid=$(sed -n 's/.*"started", "pid": \([0-9]*\).*/\1/p' \
			"$dir/log/status" 2>/dev/null)
		[ -n "$pid" ] && break
		sleep 0.02
	done
	links=$(for fd in /proc/"$pid"/fd/*; do readlink "$fd"; done |
		sed 's/:.*//' | sort | uniq -c | tr -s ' \n' ' ')
	is "$mode: pid 1 holds its channel, its orders, its caller (FD-01)" \
		"$links" ' 2 anon_inode 1 pipe 1 socket '
	wait $!
	rm -f "$dir/log/status"
}

arguments() {
	status "$mode: words with dashes are the command's (FD-08)" 127 \
		run -- --project /
	# shellcheck disable=SC2016
	is "$mode: a long word arrives whole" "$(run -- sh -c 'echo ${#1}' sh \
		"$(head -c 120000 /dev/zero | tr '\0' x)")" 120000
	like "$mode: without argv[0] (FD-08)" \
		"$(as "$who" "$aide" argc0 "$oc" 2>&1 | head -1; echo)" \
		'[uo][sc][a-]*'
	as "$who" "$aide" argc0 "$oc" >/dev/null 2>&1
	is "$mode: it is refused" $? 125
	status "$mode: absent (FD-07)" 127 run -- nsrun-escape-absent
	echo ': >ran-without-interpreter' >"$project/plain"
	chmod 755 "$project/plain"
	echo x >"$project/noexec"
	own "$project/plain" "$project/noexec"
	status "$mode: no format that can be run (FD-07)" 126 \
		run -- "$project/plain"
	[ ! -e "$project/ran-without-interpreter" ]
	is "$mode: and no shell runs it instead" $? 0
	status "$mode: not executable (FD-07)" 126 run -- "$project/noexec"
	(cd "$project" && sh ./plain)
	[ -e "$project/ran-without-interpreter" ]
	is "$mode: while a shell would have" $? 0
	rm -f "$project/ran-without-interpreter"
}

# A project cannot stand in for a system command.
planted_command() {
	mkdir -p "$project/bin"
	printf '#!/bin/sh\necho planted\n' >"$project/bin/uname"
	chmod 755 "$project/bin/uname" && own "$project/bin"
	# shellcheck disable=SC2086
	is "$mode: the project's uname stands last (FD-10)" "$(as "$who" \
		env PATH="$project/bin:$PATH" "$oc" run --project "$project" \
		$as_option -- uname)" "$(uname)"
	is "$mode: where it would stand first" "$(as "$who" \
		env PATH="$project/bin:$PATH" uname)" planted
	rm -r "${project:?}/bin"
}

# The caller's working directory is gone, or is elsewhere.
gone() {
	# shellcheck disable=SC2016,SC2086
	is "$mode: a working directory that is gone (FD-05)" "$(as "$who" sh -c \
		'mkdir "$1" && cd "$1" && rmdir "$1" && shift && exec "$@"' sh \
		"$dir/log/gone" "$oc" run --project "$project" $as_option -- \
		pwd 2>&1)" "$project"
}

privileged_helper() {
	[ "$(id -u)" = 0 ] && [ "$mode" = user ] || return
	cp "$oc" "$work/bin/setuid-nsrun" && chmod 4755 "$work/bin/setuid-nsrun"
	status 'user: a set-user-ID helper refuses (FD-09)' 125 as user \
		"$work/bin/setuid-nsrun" run --project "$project" -- true
	like 'user: and says so' "$said" '*setuid*'
	chmod 755 "$work/bin/setuid-nsrun"
	status 'user: without the bit it runs' 0 as user \
		"$work/bin/setuid-nsrun" run --project "$project" -- true
}

# `#!/proc/self/exe`, when it is the command: what is executed before it is the
# helper. It must not be reached for writing, and must not run unconfined.
own_interpreter() {
	printf '#!/proc/self/exe\n' >"$project/self" && chmod 755 \
		"$project/self" && own "$project/self"
	before=$(cksum <"$oc")
	run -- "$project/self" >"$work/said" 2>&1
	rc=$?
	is "$mode: #!/proc/self/exe (PROC-08): $rc" "$(cksum <"$oc")" "$before"
	printf '#!/proc/self/exe run\n' >"$project/self"
	if grep -q __asan_init "$oc"; then
		skip "$mode: a helper in the sandbox starts nothing (NS-05)" \
			"AddressSanitizer does not fit a command's limits"
	else
		status "$mode: a helper in the sandbox starts nothing (NS-05)" \
			125 run -- "$project/self"
	fi
	rm "$project/self"
}

terminals() {
	# shellcheck disable=SC2086
	set -- --project "$project" $as_option
	for place in sandbox stdio; do
		case $place in
		sandbox) launcher="$oc run" want='contained -' ;;
		*) launcher="$weak --weak stdio" want='open -' ;;
		esac
		# shellcheck disable=SC2086
		got=$(as "$who" "$aide" pty -- $launcher "$@" -- \
			"$project/probe" ttydev=@ ttyrdev=@ DEV-06.stdin |
			tr -d '\r' | head -1)
		like "$mode: the terminal (DEV-06) in $place: $got" "$got" \
			"DEV-06.stdin $want*"
	done
	# shellcheck disable=SC2016
	like "$mode: the caller's terminal is not ours (DEV-06)" "$(as "$who" \
		"$aide" pty -- sh -c '"$@" </dev/null 2>&1 | cat' sh "$oc" run \
		"$@" -- "$project/probe" DEV-06.tty)" \
		'DEV-06.tty blocked ENXIO*'
	like "$mode: as it is outside" "$(as "$who" "$aide" pty -- sh -c \
		'"$@" </dev/null | cat' sh "$project/probe" DEV-06.tty)" \
		'DEV-06.tty open*'
	is "$mode: its settings come back (DEV-07)" "$(as "$who" "$aide" pty \
		-- "$oc" run "$@" -- stty raw -echo | tail -1)" 'terminal same'
	is "$mode: while outside" "$(as "$who" "$aide" pty -- stty raw -echo |
		tail -1)" 'terminal changed'
}

for mode in $modes; do
	stage "$mode"
	environment
	fresh_tmp
	descriptors
	injection
	stolen
	init_descriptors
	arguments
	planted_command
	gone
	privileged_helper
	own_interpreter
	terminals
done
finish
