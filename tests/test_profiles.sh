#!/bin/sh
# The eight profiles: what differs between them does, inside; servers; what is
# shown of toolchains.
. "${srcdir:?}"/tests/lib.sh
need_sandbox

for caller in $callers; do
	p=$(project "$caller") h=$(home "$caller")
	# in PROFILE CMD...: in that profile, with a directory of the project and
	# what is passed on by shell in the environment
	in_profile() {
		name=$1; shift
		as "$caller" env PATH="/usr/bin:/bin:$p/bin" COLORTERM=c CI=1 LANG=C.UTF-8 \
			NODE_OPTIONS=canary OPENCLAUDIA_TRUST_MCP_SERVERS=plug/in \
			"$oc" run --profile "$name" $more --stdin null --project . "$@"
	}
	explained() {
		name=$1; shift
		as "$caller" env OPENCLAUDIA_TRUST_MCP_SERVERS=plug/in \
			"$oc" explain --profile "$name" $more "$@" --project . -- /usr/bin/true
	}
	# row PROFILE WALL PROJECT-IN-PATH COLORTERM CPU
	while read -r profile wall path color cpu; do
		more=
		[ $profile = mcp-stdio ] && more="--server plug/in"
		status "$caller: $profile" 0 in_profile $profile -- true
		like "$caller: $profile: its name" "$(explained $profile)" "$profile *"
		is "$caller: $profile: the deadline" "$(explained $profile --json | sed 's/.*"timeout_ms": \([0-9]*\).*/\1/')" "$((wall * 1000))"
		is "$caller: $profile: the project in PATH" \
			"$(in_profile $profile -- sh -c 'case $PATH in */project/bin*) echo yes ;; *) echo no ;; esac')" $path
		is "$caller: $profile: what is passed on" "$(in_profile $profile -- sh -c 'echo ${COLORTERM-no} ${NODE_OPTIONS-no}')" "$color no"
		is "$caller: $profile: processor time" "$(in_profile $profile -- sh -c 'ulimit -t')" $cpu
		is "$caller: $profile: the same limits else" "$(in_profile $profile -- sh -c 'ulimit -n; ulimit -c' | tr '\n' ' ')" \
			"$(more=; in_profile shell -- sh -c 'ulimit -n; ulimit -c' | tr '\n' ' ')"
		fails "$caller: $profile: no socket" in_profile $profile -- \
			/usr/bin/perl -MSocket -e 'socket(my $s, AF_INET, SOCK_STREAM, 0) or exit 9'
		if [ $profile != mcp-stdio ]; then
			status "$caller: $profile: no server" 125 as "$caller" "$oc" run --profile $profile --server plug/in -- true
		fi
		if [ $profile != repository-hook ]; then
			status "$caller: $profile: no hook" 125 as "$caller" "$oc" run --profile $profile $more --hook-mode full -- true
		fi
	done <<-END
		shell 300 yes c 300
		repository-hook 60 yes c 300
		language-server 0 yes no unlimited
		static-analyzer 120 yes c 300
		quality-gate 300 yes c 300
		document-parser 30 no no 300
		mcp-stdio 0 no no unlimited
	END
	more=
	for profile in document-parser; do
		status "$caller: $profile has no network to ask for" 125 in_profile $profile --network isolated -- true
	done
	mkdir -p "$p/sub"
	is "$caller: a hook knows where it starts" "$(in_profile repository-hook --cwd sub -- sh -c 'echo $CLAUDE_PROJECT_DIR')" "$p/sub"
	is "$caller: a hook reads its standard input" \
		"$(echo '{"a": 1}' | as "$caller" "$oc" run --profile repository-hook --project . -- cat)" '{"a": 1}'

	# Servers.
	server() { as "$caller" env OPENCLAUDIA_TRUST_MCP_SERVERS="a/b, plug/in" "$@"; }
	start="$oc run --profile mcp-stdio --stdin null --project ."
	status "$caller: a trusted server" 0 server $start --server plug/in -- true
	status "$caller: one that is not named" 125 server $start --server plug/other -- true
	like "$caller: ... says which" "$said" "*plug/other: is not in OPENCLAUDIA_TRUST_MCP_SERVERS*"
	status "$caller: none is trusted" 125 as "$caller" $start --server plug/in -- true
	status "$caller: a name's case" 125 server $start --server Plug/in -- true
	status "$caller: no name" 125 server $start -- true
	for bad in plug plug/ /in plug/in/x 'plug/*' 'a b/c' 'a/b,c'; do
		status "$caller: no server: $bad" 125 server $start --server "$bad" -- true
	done
	for bad in 'plug/*' plug 'a/b,/x'; do
		status "$caller: one bad word trusts nobody: $bad" 125 as "$caller" \
			env OPENCLAUDIA_TRUST_MCP_SERVERS="plug/in,$bad" $start --server plug/in -- true
		status "$caller: ... and starts nothing else: $bad" 125 as "$caller" \
			env OPENCLAUDIA_TRUST_MCP_SERVERS="plug/in,$bad" "$oc" run -- true
	done
	cp /usr/bin/true "$p/mine"
	status "$caller: an executable of the project" 125 server $start --server plug/in -- "$p/mine"
	like "$caller: ... says why" "$said" "*is in a directory that the sandbox can write"
	ln -sf "$p/mine" "$p/bin-link"
	status "$caller: through a link" 125 server $start --server plug/in -- "$p/bin-link"
	mkdir -p "$work/$caller/rw" "$work/$caller/ro"; cp "$p/mine" "$work/$caller/ro/mine"
	chown -R "$(stat -c %u:%g "$p")" "$work/$caller/rw" "$work/$caller/ro"
	cp "$p/mine" "$work/$caller/rw/mine"
	status "$caller: of another writable root" 125 server $start --rw "$work/$caller/rw" --server plug/in -- "$work/$caller/rw/mine"
	status "$caller: of a read-only root that others can write" 125 server $start --ro "$work/$caller/ro" --server plug/in -- "$work/$caller/ro/mine"
	like "$caller: ... says why" "$said" "*: is *"
	status "$caller: a relative path" 125 server $start --server plug/in -- ./mine
	status "$caller: a directory" 125 server $start --server plug/in -- /usr/bin
	status "$caller: a command that is not there" 125 server $start --server plug/in -- no-such-command
	is "$caller: its arguments are its own" "$(server $start --server plug/in -- sh -c 'echo $0 $1' x y)" "x y"
	status "$caller: a credential" 125 server $start --server plug/in --env GITHUB_TOKEN=x -- true
	grant() { server env OPENCLAUDIA_MCP_ENV_GRANTS="GITHUB_TOKEN" "$@"; }
	is "$caller: ... that is granted" "$(grant $start --server plug/in --env GITHUB_TOKEN=x -- sh -c 'echo $GITHUB_TOKEN')" x
	status "$caller: ... in another case" 125 grant $start --server plug/in --env github_token=x -- true
	status "$caller: ... to the shell it is not" 125 grant "$oc" run --env GITHUB_TOKEN=x -- true
	for bad in LD_PRELOAD NODE_OPTIONS GIT_DIR PYTHONPATH GCONV_PATH PATH; do
		status "$caller: a server gets no $bad" 125 server $start --server plug/in --env $bad=x -- true
	done
	status "$caller: a loader's name cannot be granted" 125 as "$caller" env OPENCLAUDIA_MCP_ENV_GRANTS=LD_PRELOAD "$oc" run -- true
	like "$caller: explain names the server" "$(server "$oc" explain --profile mcp-stdio --server plug/in -- true)" "mcp-stdio  server plug/in*"

	# Toolchains.
	mkdir -p "$h/.cargo/bin" "$h/.cargo/registry" "$h/.local/bin" "$h/.nvm/versions/node" "$h/.npm-global/etc" \
		"$work/$caller/jdk/bin" "$work/$caller/jdk/lib" "$work/$caller/nojdk" "$work/$caller/go/pkg/mod" "$p/jdk/bin"
	for file in .cargo/credentials.toml .cargo/config.toml .npmrc .npm-global/etc/npmrc .cargo/bin/x .local/bin/x .nvm/x; do
		echo "$file" >"$h/$file"
	done
	echo x >"$work/$caller/jdk/bin/java"; echo x >"$work/$caller/nojdk/secret"; echo x >"$work/$caller/go/secret"; echo x >"$p/jdk/bin/java"
	ln -s "$work/$caller/nojdk" "$p/jdk/lib"
	chown -R "$(stat -c %u:%g "$p")" "$h/.cargo" "$h/.local" "$h/.nvm" "$h/.npm-global" "$h/.npmrc" \
		"$work/$caller/jdk" "$work/$caller/nojdk" "$work/$caller/go"
	run() { as "$caller" "$oc" run --stdin null --project . "$@"; }
	for file in .cargo/bin/x .local/bin/x .nvm/x; do
		is "$caller: ~/$file is visible" "$(run -- cat "$h/$file")" "$file"
		fails "$caller: ... read-only" run -- sh -c "echo y >'$h/$file'"
	done
	for file in .cargo/credentials.toml .cargo/config.toml .npmrc .npm-global/etc/npmrc; do
		fails "$caller: ~/$file is not there" run -- cat "$h/$file"
	done
	with() { v=$1; shift; as "$caller" env "$v" "$oc" run --stdin null --project . "$@"; }
	is "$caller: JAVA_HOME" "$(with JAVA_HOME="$work/$caller/jdk" -- sh -c 'ls $JAVA_HOME; cat $JAVA_HOME/bin/java' | tr '\n' ' ')" "bin lib x "
	is "$caller: ... in PATH" "$(as "$caller" env JAVA_HOME="$work/$caller/jdk" PATH="$work/$caller/jdk/bin:/usr/bin" "$oc" run -- sh -c 'echo $PATH')" \
		"$work/$caller/jdk/bin:/usr/bin"
	fails "$caller: what is no JAVA_HOME stays out" with JAVA_HOME="$work/$caller/nojdk" -- cat "$work/$caller/nojdk/secret"
	fails "$caller: ... through a link in the project" with JAVA_HOME="$p/jdk" -- cat "$p/jdk/lib/secret"
	fails "$caller: the home is no toolchain" with GOPATH="$h" -- cat "$h/.npmrc"
	is "$caller: GOPATH" "$(with GOPATH="$work/$caller/go" -- sh -c 'ls $GOPATH; ls $GOPATH/pkg' | tr '\n' ' ')" "pkg mod "
	for value in / /etc /proc relative "$work/$caller/nothing" "$work/../$work/$caller/jdk"; do
		status "$caller: a variable that names nothing is no error: $value" 0 with JAVA_HOME="$value" -- true
	done
	fails "$caller: a parser sees no toolchain" as "$caller" "$oc" run --profile document-parser -- cat "$h/.cargo/bin/x"
done
done_testing
