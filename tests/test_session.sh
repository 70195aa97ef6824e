#!/bin/sh
# What the host's environment at start-up grants, and what it cannot.
. "${srcdir:?}"/tests/lib.sh
need_sandbox

for caller in $callers; do
	p=$(project "$caller") d=$work/$caller
	mkdir -p "$d/ro" "$d/rw" "$d/o:dd"
	echo r >"$d/ro/f"
	ln -s "$d/ro" "$d/link"; ln -s loop "$d/loop"
	chown -R "$(stat -c %u:%g "$p")" "$d/ro" "$d/rw"
	# with VAR=VALUE CMD...: started by a host with that variable
	with() {
		variable=$1; shift
		as "$caller" env "$variable" "$oc" run --stdin null --project . "$@"
	}
	# refused WHAT VAR=VALUE PATTERN [WORD...]: one line, status 125
	refused() {
		what="$caller: $1" variable=$2 pattern=$3; shift 3
		said=$(with "$variable" "$@" -- touch ran 2>&1); rc=$?
		if [ $rc = 125 ] && [ ! -e "$p/ran" ] &&
		    [ "$(printf '%s\n' "$said" | wc -l)" = 1 ]; then
			like "$what" "$said" "$pattern"
		else
			fail "$what" "rc $rc: $said"
		fi
	}

	RO=OPENCLAUDIA_AGENT_READ_ONLY_ROOTS RW=OPENCLAUDIA_AGENT_READ_WRITE_ROOTS
	is "$caller: a read-only root" "$(with $RO="$d/ro" -- cat "$d/ro/f")" r
	fails "$caller: ... is" with $RO="$d/ro" -- sh -c "echo x >$d/ro/f"
	status "$caller: a writable root" 0 with $RW="$d/rw" -- sh -c "echo x >$d/rw/f"
	is "$caller: two" "$(with $RO="$d/ro:$d/rw" -- cat "$d/ro/f" "$d/rw/f" | tr '\n' ' ')" "r x "
	is "$caller: a link to one" "$(with $RO="$d/link" -- cat "$d/ro/f")" r
	status "$caller: beside --ro" 0 with $RO="$d/ro" --ro "$d/rw" -- cat "$d/ro/f" "$d/rw/f"
	status "$caller: the same twice" 0 with $RO="$d/ro:$d/ro" --ro "$d/ro" -- true
	status "$caller: an empty variable is none" 0 with $RO= -- true
	refused "both ways" $RO="$d/rw" "*both read-only and writable*" --rw "$d/rw"
	refused "an empty path" $RO="$d/ro:" "*$RO: has an empty path"
	refused "an empty path before" $RW=":$d/ro" "*$RW: has an empty path"
	refused "a relative path" $RO=ro "*$RO: has a relative path"
	refused "a colon in a name" $RO="$d/o:dd" "*: *"
	refused "what is not there" $RO="$d/nothing" "*No such file*"
	refused "a file" $RO="$d/ro/f" "*Not a directory"
	refused "a loop" $RO="$d/loop" "*symbolic links*"
	for broad in / /etc /usr /home /tmp "$(home "$caller")" "$work"; do
		refused "too broad: $broad" $RW="$broad" "*: is *"
	done

	ENV=OPENCLAUDIA_AGENT_ENV_GRANTS
	granted() { as "$caller" env A=1 B=two C= "$ENV=$1" "$oc" run --stdin null -- sh -c 'echo "${A-none} ${B-none} ${C-none} ${D-none}"'; }
	is "$caller: variables" "$(granted "A, C ,,B,A,D")" "1 two  none"
	is "$caller: none" "$(granted "")" "none none none none"
	is "$caller: the command line wins" "$(as "$caller" env A=1 $ENV=A "$oc" run --env A=2 -- sh -c 'echo $A')" 2
	for name in LD_PRELOAD ld_preload PATH HOME TMPDIR XDG_RUNTIME_DIR OPENCLAUDIA_X DYLD_X SSH_AUTH_SOCK \
	    GITHUB_TOKEN my_password AWS_X X_API_KEY ANTHROPIC_AUTH_TOKEN KUBECONFIG \
	    NODE_OPTIONS PYTHONPATH PERL5OPT GIT_DIR BASH_ENV PS4 MAKEFLAGS RUSTC_WRAPPER npm_config_registry PIP_INDEX_URL \
	    JAVA_TOOL_OPTIONS GOFLAGS EDITOR TAR_OPTIONS GCC_EXEC_PREFIX GLIBC_TUNABLES 'BASH_FUNC_x%%' \
	    'A B' 'A=B' 1A 'A*' '*' "$(printf 'A\001')" "$(printf 'A\377')"; do
		refused "no grant of $(printf %s "$name" | tr -c '[:print:]' '?')" "$ENV=A,$name " "*environment $ENV: *"
	done
	said=$(as "$caller" env A="$(printf '\377')" $ENV=A "$oc" run -- true 2>&1)
	is "$caller: a value that is not UTF-8" "$? $said" "125 oc-nsrun: environment A: has a value that is not UTF-8"
	long=$(head -c 100000 /dev/zero | tr '\0' x)
	refused "a name of 100 kB" "$ENV=A-$long" "*is not a variable's name"
	status "$caller: a value of 100 kB" 0 as "$caller" env A="$long" $ENV=A "$oc" run -- true
	like "$caller: explain names what was granted" "$(as "$caller" env A=canary $ENV=A "$oc" explain --env B=canary -- true)" "*(2 granted: A B)*"
	unlike "$caller: ... and no value" "$(as "$caller" env A=canary $ENV=A "$oc" explain --json -- true)" "*canary*"
	like "$caller: ... in JSON" "$(as "$caller" env A=canary $ENV=A "$oc" explain --json -- true)" '*"granted": ?"A"?, *'

	NET=OPENCLAUDIA_AGENT_NETWORK
	for value in denied DENIED Denied ""; do
		status "$caller: network \"$value\"" 0 with $NET=$value -- true
	done
	status "$caller: unset, a caller may ask" 0 with $NET= --network isolated -- true
	refused "denied, it may not" $NET=denied "*not granted by $NET" --network isolated
	for value in isolated host loopback deniedx; do
		refused "network $value" $NET=$value "*$NET: can only be denied"
	done

	MASKS=OPENCLAUDIA_PROJECT_SECRET_MASKS
	for bad in /etc ../x a/../b . a/. a/./b "$(printf '\377')"; do
		refused "no mask: $(printf %s "$bad" | tr -c '[:print:]' '?')" "$MASKS=ok,$bad" "*$MASKS: *"
	done
	status "$caller: no masks" 0 with "$MASKS= , ," -- true
	masked() { with "$MASKS=.secret, absent/by/name/ ,keys//*.pem" "$@"; }
	as "$caller" sh -c 'mkdir keys; echo canary | tee .secret keys/a.pem >keys/b'
	is "$caller: what is masked is not seen" "$(masked -- sh -c 'cat .secret keys/*' 2>/dev/null)" canary
	fails "$caller: ... nor written" masked -- sh -c ': >.secret'
	fails "$caller: ... nor made" masked -- mkdir absent
	like "$caller: ... in explain" "$(as "$caller" env "$MASKS=.secret,absent" "$oc" explain --project . -- true)" "*.secret *hidden*absent *absent*"
	is "$caller: ... beside --mask" "$(masked --mask keys/b -- sh -c 'cat .secret keys/*' 2>/dev/null)" ""
	status "$caller: ... and without a project there is none" 0 as "$caller" env "$MASKS=.secret" "$oc" run -- true
	is "$caller: nothing of it is left" "$(cat "$p/.secret" "$p/keys/a.pem"; ls -A "$p")" "canary
canary
.secret
keys"

	SANDBOX=OPENCLAUDIA_BASH_SANDBOX
	for value in "" on 1 true REQUIRED " on "; do
		status "$caller: $SANDBOX=$value" 0 with "$SANDBOX=$value" -- true
	done
	for value in off 0 FALSE disabled; do
		refused "$SANDBOX=$value, which no site permits" $SANDBOX=$value "*needs the permission of *"
	done
	for value in maybe onn "$(printf '\377')"; do
		refused "$SANDBOX of no sense" "$SANDBOX=$value" "*$SANDBOX: is neither on nor off"
	done
	HOOKS=OPENCLAUDIA_TRUST_UNSANDBOXED_HOOKS
	hook="--profile repository-hook --hook-mode"
	status "$caller: a hook in full" 0 with A=1 $hook full -- true
	for mode in none env-scrub; do
		refused "a hook without, not trusted" A=1 "*needs $HOOKS=true*" $hook $mode
		refused "a hook without, trusted by the environment alone" $HOOKS=true "*needs the permission of *" $hook $mode
	done
	refused "a mode that is none" A=1 "*is neither full, env-scrub nor none" $hook half
	refused "a mode of another profile" A=1 "*belongs to a profile of hooks*" --hook-mode full
	refused "$HOOKS of no sense" $HOOKS=maybe "*$HOOKS: is neither true nor false"
done
done_testing
