#!/bin/sh
# The environment: built from nothing, granted by name, readable nowhere else.
. "${srcdir:?}"/tests/lib.sh
need_sandbox

for caller in $callers; do
	p=$(project "$caller")
	# A caller's environment full of what must not pass.
	rich() {
		as "$caller" env SECRET_CANARY=canary-value API_KEY=canary-value \
			GITHUB_TOKEN=canary-value AWS_REGION=canary-value \
			SSH_AUTH_SOCK=/canary-value DBUS_SESSION_BUS_ADDRESS=canary-value \
			DISPLAY=:canary-value HTTPS_PROXY=canary-value \
			LD_LIBRARY_PATH=/canary-value BASH_ENV=/canary-value ENV=/canary-value \
			PYTHONSTARTUP=/canary-value NODE_OPTIONS=canary-value \
			PERL5OPT=canary-value GIT_DIR=canary-value MAKEFLAGS=canary-value \
			TZ=:/canary-value XDG_RUNTIME_DIR=/canary-value KUBECONFIG=/canary-value \
			TMPDIR=/canary-value LANG=C.UTF-8 TERM=dumb CI=1 \
			"$oc" run --stdin null --project . "$@"
	}
	is "$caller: names of the environment" "$(rich -- env | sed 's/=.*//' | sort | tr '\n' ' ')" \
		"$(echo CARGO_HOME CI HOME HOSTNAME LANG LC_ALL LOGNAME OPENCLAUDIA_SANDBOX PATH PWD RUSTUP_HOME SHELL TEMP TERM TMP TMPDIR USER XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR XDG_STATE_HOME | tr ' ' '\n' | sort | tr '\n' ' ')"
	is "$caller: no canary in it" "$(rich -- env | grep -c canary)" 0
	is "$caller: nor anywhere in /proc" "$(rich -- sh -c \
		'cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr "\0" "\n" | grep -c "canary[-]value"')" 0
	is "$caller: pid 1 shows nothing of the caller's arguments" "$(rich --env ARG_CANARY=x -- sh -c \
		'tr -d "\0" </proc/1/cmdline')" oc-nsrun-init
	is "$caller: a variable is granted by name" "$(as "$caller" env FOO=bar "$oc" run --stdin null --project . --env FOO -- sh -c 'echo $FOO')" bar
	is "$caller: one the caller lacks grants nothing" "$(rich --env NOT_SET -- sh -c 'echo ${NOT_SET-unset}')" unset
	is "$caller: a variable is set" "$(rich --env A=1 --env A=2 --env 'B=x y' -- sh -c 'echo "$A $B"')" "2 x y"
	is "$caller: a time zone by name passes, a path does not" \
		"$(as "$caller" env TZ=Europe/Berlin "$oc" run --stdin null --project . -- sh -c 'echo ${TZ-none}') $(as "$caller" env TZ=/etc/passwd "$oc" run --stdin null --project . -- sh -c 'echo ${TZ-none}')" \
		"Europe/Berlin none"
	is "$caller: variables on standard input" "$(printf 'A=1\0' | as "$caller" "$oc" run --project . --env-fd 0 -- sh -c 'echo $A; cat')" 1
	is "$caller: by descriptor" "$(printf 'A=1\0B=two\nlines\0' >"$work/envs"; \
		as "$caller" sh -c "exec $oc run --stdin null --project . --env-fd 8 -- sh -c 'echo \"\$A \$B\"' 8<$work/envs")" "1 two
lines"
	is "$caller: arguments by descriptor" "$(printf 'a b\0\0c' >"$work/args"; \
		as "$caller" sh -c "exec $oc run --stdin null --project . --args-fd 8 -- printf '[%s]' first 8<$work/args")" "[first][a b][][c]"
	is "$caller: HOME keeps its path" "$(rich -- sh -c 'echo $HOME')" "$(home "$caller")"
	is "$caller: HOME is empty but for the project" "$(rich -- sh -c 'ls $HOME')" project
	mkdir -p "$work/$caller/o:dd"
	is "$caller: a HOME that is no field of passwd is not used" \
		"$(as "$caller" env HOME="$work/$caller/o:dd" "$oc" run --stdin null --project . -- sh -c 'echo $HOME')" /home/user
	is "$caller: nor one in a system tree" \
		"$(as "$caller" env HOME=/usr/bin "$oc" run --stdin null --project . -- sh -c 'echo $HOME')" /home/user
	status "$caller: without HOME" 0 as "$caller" env -u HOME "$oc" run --stdin null --project . -- true
	is "$caller: TMPDIR is private" "$(rich -- sh -c 'echo $TMPDIR')" /tmp
	is "$caller: PATH keeps only what is visible" \
		"$(as "$caller" env PATH="/canary:/usr/bin:$p/bin:relative:/usr/../x:/bin:/usr/bin:$(home "$caller")/.cargo/bin:$(home "$caller")/bin" "$oc" run --stdin null --project . -- sh -c 'echo $PATH')" \
		"/usr/bin:/bin:$(home "$caller")/.cargo/bin:$p/bin"
	is "$caller: PATH is never empty" "$(as "$caller" env PATH=/canary "$oc" run --stdin null --project . -- sh -c 'echo $PATH')" \
		/usr/local/bin:/usr/bin:/bin
done
done_testing
