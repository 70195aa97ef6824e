#!/bin/sh
# The site's configuration: it bounds launches, adds profiles and filters,
# permits what nothing else can, and is refused when anybody else could write
# it. Root alone can give a host an /etc for the time of a test.
. "${srcdir:?}"/tests/lib.sh
need_sandbox
[ "$(id -u)" = 0 ] || { echo "1..0 # SKIP needs root, for an /etc of its own"; exit 0; }
cp -a /etc "$work/etc" || exit 99
[ -e "$work/etc/oc-nsrun" ] && { echo "1..0 # SKIP this host has an /etc/oc-nsrun"; exit 0; }
why=$(unshare -m mount --bind "$work/etc" /etc 2>&1) || {
	echo "1..0 # SKIP no mounts here: $why"
	exit 0
}
conf=$work/etc/oc-nsrun
mkdir -m 755 "$conf"

# at CALLER [VAR=VALUE]... CMD: as(), on a host with that /etc
at() {
	at_caller=$1; shift
	set -- env -i PATH="$PATH" HOME="$(home "$at_caller")" USER=tester LC_ALL=$LC_ALL TERM=$TERM "$@"
	[ "$at_caller" = user ] && set -- setpriv --reuid $user_id --regid $user_id --clear-groups --inh-caps=-all "$@"
	(cd "$(project "$at_caller")" && exec unshare -m sh -c \
		'mount --bind "$1" /etc || exit 99; shift; cd "$1" || exit 99; shift; exec "$@"' sh "$work/etc" . "$@")
}
write() { cat >"$conf/$1"; }

for caller in $callers; do
	p=$(project "$caller") d=$work/$caller
	mkdir -p "$d/shared/in" "$d/other"
	chown -R "$(stat -c %u:%g "$p")" "$d/shared" "$d/other"
	rm -rf "$conf"; mkdir -m 755 "$conf"
	run() { at "$caller" "$oc" run --stdin null "$@"; }
	status "$caller: an empty directory bounds nothing" 0 run --project . --env A=1 -- true
	: >"$conf/oc-nsrun.conf"
	status "$caller: an empty file grants nothing" 125 run -- true
	like "$caller: ... not even a profile" "$said" "*--profile -> shell: is not granted by /etc/oc-nsrun/oc-nsrun.conf"

	write oc-nsrun.conf <<-END
		# what callers may grant
		project    $d/home
		read-only  $d/shared
		read-write $d/shared/in
		profile    shell mcp-stdio repository-hook
		env        A B_1
		server     plug/in
		server-env GITHUB_TOKEN
	END
	status "$caller: a project that is granted" 0 run --project . -- true
	status "$caller: none" 0 run -- true
	status "$caller: another" 125 run --project "$d/other" -- true
	like "$caller: ... says which" "$said" "*project $d/other: is not granted by *"
	# A home that is read, and credentials, are roots in this respect.
	echo key >"$d/shared/key"; echo key >"$d/shared/in/key"; echo key >"$d/other/key"
	chown "$(stat -c %u:%g "$p")" "$d"/*/key "$d/shared/in/key"
	status "$caller: homes that are empty" 0 run --home private --state-dir "$d/state" -- true
	status "$caller: a home that may be read" 0 run --home overlay="$d/shared" -- true
	status "$caller: another" 125 run --home overlay="$d/other" -- true
	like "$caller: ... says so" "$said" "*home $d/other: is not granted by *"
	status "$caller: the caller's own" 125 run --home overlay -- true
	for option in credential credential-copy; do
		status "$caller: a $option that may be read" 0 run --$option "$d/shared/key:k" -- true
		status "$caller: another" 125 run --$option "$d/other/key:k" -- true
		like "$caller: ... says so" "$said" "*credential $d/other/key: is not granted by *"
	done
	status "$caller: a credential to be returned, which may be read" 125 run --credential-copy "$d/shared/key:k" --credential-return -- true
	status "$caller: ... which may be written" 0 run --credential-copy "$d/shared/in/key:k" --credential-return -- true
	ln -sfn "$d/other" "$p/link"
	status "$caller: another, through a link" 125 run --project link -- true
	status "$caller: a read-only root" 0 run --ro "$d/shared" -- true
	status "$caller: ... is not writable" 125 run --rw "$d/shared" -- true
	status "$caller: a writable root" 0 run --rw "$d/shared/in" -- true
	status "$caller: ... may be read only" 0 run --ro "$d/shared/in" -- true
	status "$caller: another root" 125 run --ro "$d/other" -- true
	status "$caller: ... by the environment" 125 at "$caller" OPENCLAUDIA_AGENT_READ_ONLY_ROOTS="$d/other" "$oc" run -- true
	status "$caller: a root of the environment" 0 at "$caller" OPENCLAUDIA_AGENT_READ_ONLY_ROOTS="$d/shared" "$oc" run -- true
	status "$caller: variables" 0 run --env A=1 --env B_1 -- true
	status "$caller: another" 125 run --env C=1 -- true
	status "$caller: ... by the environment" 125 at "$caller" OPENCLAUDIA_AGENT_ENV_GRANTS=C "$oc" run -- true
	status "$caller: another profile" 125 run --profile quality-gate -- true
	status "$caller: another network" 125 run --network isolated -- true
	status "$caller: the network that always may be" 0 run --network denied -- true
	start="$oc run --stdin null --profile mcp-stdio"
	status "$caller: a server" 0 at "$caller" OPENCLAUDIA_TRUST_MCP_SERVERS=plug/in $start --server plug/in -- true
	status "$caller: ... is not trusted by the site alone" 125 at "$caller" $start --server plug/in -- true
	status "$caller: another server" 125 at "$caller" OPENCLAUDIA_TRUST_MCP_SERVERS=plug/in,a/b $start --server a/b -- true
	status "$caller: a server's credential" 0 at "$caller" OPENCLAUDIA_TRUST_MCP_SERVERS=plug/in \
		OPENCLAUDIA_MCP_ENV_GRANTS=GITHUB_TOKEN $start --server plug/in --env GITHUB_TOKEN=x -- true
	status "$caller: another credential" 125 at "$caller" OPENCLAUDIA_TRUST_MCP_SERVERS=plug/in \
		OPENCLAUDIA_MCP_ENV_GRANTS=NPM_TOKEN $start --server plug/in -- true
	printf 'profile any\nproject any\nread-only any\nread-write any\nenv any\nnetwork isolated\n' | write oc-nsrun.conf
	status "$caller: any" 0 run --project "$d/other" --ro "$d/shared" --rw "$d/shared/in" --env C=1 --network isolated --profile quality-gate -- true
	status "$caller: any is not everything" 125 run --project /etc -- true
	status "$caller: ... nor every name" 125 run --env GITHUB_TOKEN=x -- true
	printf 'profile any\nbogus\n' | write oc-nsrun.conf
	status "$caller: a mistake fails every launch" 125 run -- true
	like "$caller: ... and is named" "$said" "*/etc/oc-nsrun/oc-nsrun.conf:2:1: is no keyword*"

	printf 'profile any\nproject any\nmask .site-secret sub/absent\n' | write oc-nsrun.conf
	as "$caller" sh -c 'mkdir -p sub; echo canary >.site-secret; echo canary >.env'
	status "$caller: the site's mask" 1 run --project . -- cat .site-secret
	status "$caller: ... of an absent name" 1 run --project . -- mkdir sub/absent
	status "$caller: ... beside the environment's" 1 at "$caller" OPENCLAUDIA_PROJECT_SECRET_MASKS=.env "$oc" run --project . -- cat .env
	like "$caller: ... are told" "$(at "$caller" "$oc" run --stdin null --project . --status-fd 1 -- true)" '*"masks": *.site-secret", "mask": "hidden"*sub/absent", "mask": "absent"*'
	rm "$p/.site-secret" "$p/.env"

	# No sandbox: where both the environment and the site say so.
	printf 'profile any\nproject any\nenv any\npermit unsandboxed\n' | write oc-nsrun.conf
	off() { at "$caller" OPENCLAUDIA_BASH_SANDBOX=off SECRET=canary "$oc" "$@"; }
	status "$caller: off" 3 off run --project . -- sh -c 'test -e /sys && exit 3'
	is "$caller: ... one warning" "$said" "oc-nsrun: warning: unsandboxed: this command runs without a sandbox, with all rights of its caller"
	is "$caller: ... a clean environment" "$(off run --project . --env A=1 -- sh -c 'echo ${SECRET-none} $A ${OPENCLAUDIA_SANDBOX-none}' 2>/dev/null)" "none 1 none"
	is "$caller: ... in the project" "$(off run --project . -- pwd 2>/dev/null)" "$p"
	like "$caller: ... in the records" "$(off run --project . --status-fd 1 -- true 2>/dev/null)" '*"event": "started"*"boundary": "unsandboxed"*"network": "host"*"event": "exited"*"code": 0*'
	like "$caller: ... in explain" "$(off explain --project . -- true)" "shell  NO SANDBOX: unsandboxed*"
	status "$caller: ... not there" 127 off run -- no-such-command
	status "$caller: ... a signal" 137 off run -- sh -c 'kill -9 $$'
	status "$caller: ... the deadline" 124 off run --timeout 300ms -- sh -c 'trap "" TERM; sleep 60; sleep 60'
	status "$caller: ... nothing outlives it" 0 off run --project . -- sh -c 'setsid sleep 87.65 & exit 0'
	is "$caller: ... also not in a session of its own" "$(running 'sleep 87.65')" ""
	is "$caller: ... descriptors" "$(off run -- sh -c 'ls /proc/self/fd | wc -l' 9</etc/passwd 2>/dev/null)" 4
	for word in "--limit cpu=1" "--max-output 5" "--network denied" "--as 1:1" "--mask x" "--on-hazard refuse" \
		"--home tmpfs" "--home-keep x" "--credential-return" "--project . --dry-run"; do
		status "$caller: ... $word would not hold" 125 off run $word -- true
	done
	as "$caller" mkdir -p .git
	status "$caller: ... nor would what git is kept from" 125 off git --project . -- status
	like "$caller: ... told" "$said" "*git: holds in a sandbox only"
	rmdir "$p/.git"
	status "$caller: ... an ungranted root all the same" 125 off run --ro "$d/shared" -- true
	status "$caller: on, all is as before" 0 run -- sh -c '! test -e /sys'
	hook() { at "$caller" OPENCLAUDIA_TRUST_UNSANDBOXED_HOOKS=$1 SECRET=canary "$oc" run --profile repository-hook --hook-mode $2 --project . -- sh -c 'echo ${SECRET-none} $CLAUDE_PROJECT_DIR' 2>/dev/null; }
	is "$caller: a hook is another permission" "$(hook true none; echo $?)" 125
	printf 'profile any\nproject any\npermit hook-none hook-env-scrub\n' | write oc-nsrun.conf
	is "$caller: a hook with nothing" "$(hook true none)" "canary $p"
	is "$caller: a hook without secrets" "$(hook yes env-scrub)" "none $p"
	is "$caller: ... in full" "$(hook true full)" "none $p"
	is "$caller: ... not trusted" "$(hook false none; echo $?)" 125
	is "$caller: off is another permission" "$(off run -- true >/dev/null 2>&1; echo $?)" 125

	# Sandboxes inside.
	printf 'profile any\nproject any\n' | write oc-nsrun.conf
	status "$caller: nesting is not granted" 125 run --as 1:1 --nesting allow -- true
	like "$caller: ... told" "$said" "*--nesting -> allow: is not granted by /etc/oc-nsrun/oc-nsrun.conf"
	printf 'profile any\nproject any\nnesting allow\n' | write oc-nsrun.conf
	[ "$caller" = user ] || status "$caller: granted" 0 run --as 1:1 --nesting allow -- unshare -Ur true
	[ "$caller" != user ] || status "$caller: granted" 0 run --nesting allow -- unshare -Ur true
	printf 'profile any\npermit unsandboxed\n' | write oc-nsrun.conf
	status "$caller: nesting would not hold without a sandbox" 125 off run --nesting allow -- true

	# Profiles and filters of the site's.
	rm "$conf/oc-nsrun.conf"
	sed 's/^filter .*/filter site/; s/^EPERM   mount /EPERM   mkdir mkdirat mount /; s/^\(allow .*\) mkdir mkdirat/\1/' \
		"$srcdir/policy/seccomp-1.policy" | write site.policy
	printf 'profile mine\nlike shell\nfilter site\nwall 7s\nset HELLO site\n' | write mine.profile
	status "$caller: they are right" 0 at "$caller" "$oc" policy check /etc/oc-nsrun/mine.profile
	status "$caller: a profile of the site" 0 run --profile mine -- sh -c 'test $HELLO = site'
	fails "$caller: ... with its filter" run --profile mine --project . -- mkdir new
	status "$caller: ... which nesting does not take away" 125 run --profile mine --nesting allow -- true
	like "$caller: ... told" "$said" "*not permitted by the profile"
	like "$caller: ... by name and hash" "$(at "$caller" "$oc" run --profile mine --status-fd 1 -- true)" \
		'*"profile": "mine"*"name": "site", "variant": "denied", "sha256": "'"$(at "$caller" "$oc" policy export site --arch "$(uname -m)" | sha256sum | sed 's/ .*//')"'"*'
	like "$caller: ... are listed" "$(at "$caller" "$oc" policy list | tr '\n' ' ')" "*filter site site profile mine site *"
	is "$caller: ... and shown" "$(at "$caller" "$oc" policy show mine | tail -n 1)" "set HELLO site"
	printf 'profile shell\nlike mcp-stdio\n' | write shell.profile
	status "$caller: a name of the release's is refused" 125 run -- true
	like "$caller: ... and told" "$said" "*shell.profile: is called like one of the release's*"
	rm "$conf/shell.profile"
	printf 'profile other\nlike shell\n' | write named.profile
	status "$caller: a profile of another name" 125 run --profile named -- true
	printf 'profile bad\nlike shell\nfilter bogus\n' | write bad.profile
	status "$caller: a filter that is none" 125 run --profile bad -- true
	printf 'profile bad\nlike shell\nnope\n' | write bad.profile
	status "$caller: a mistake in a profile" 125 run --profile bad -- true
	like "$caller: ... by line and column" "$said" "*/etc/oc-nsrun/bad.profile:3:1: *"
	status "$caller: a path is no name" 125 run --profile ../passwd -- true

	# What somebody else could write is refused, with all launches.
	printf 'profile any\n' | write oc-nsrun.conf
	status "$caller: root's alone" 0 run -- true
	# distrusted WHAT SUBJECT UNDO CMD...
	distrusted() {
		what="$caller: $1" subject=$2 undo=$3; shift 3
		"$@"
		status "$what" 125 run -- true
		like "$what: told" "$said" "*policy *$subject: is *"
		eval "$undo"
	}
	distrusted "another's file" oc-nsrun.conf 'chown 0 $conf/oc-nsrun.conf' chown $user_id "$conf/oc-nsrun.conf"
	distrusted "a file that a group writes" oc-nsrun.conf 'chmod 644 $conf/oc-nsrun.conf' chmod 664 "$conf/oc-nsrun.conf"
	distrusted "a file that all write" oc-nsrun.conf 'chmod 644 $conf/oc-nsrun.conf' chmod 646 "$conf/oc-nsrun.conf"
	distrusted "another's directory" /etc/oc-nsrun 'chown 0 $conf' chown $user_id "$conf"
	distrusted "a directory that all write" /etc/oc-nsrun 'chmod 755 $conf' chmod 1777 "$conf"
	distrusted "an ancestor that all write" /etc 'chmod 755 $work/etc' chmod 777 "$work/etc"
	distrusted "an ancestor of another" /etc 'chown 0 $work/etc' chown $user_id "$work/etc"
	mv "$conf" "$work/real"; ln -s "$work/real" "$conf"
	distrusted "a link to the directory" /etc/oc-nsrun 'rm $conf; mv $work/real $conf' true
	mv "$conf/oc-nsrun.conf" "$conf/real"; ln -s real "$conf/oc-nsrun.conf"
	status "$caller: a link to the file" 125 run -- true
	rm "$conf/oc-nsrun.conf"; mkfifo "$conf/oc-nsrun.conf"
	run -- true >/dev/null 2>&1
	is "$caller: a FIFO does not hang" "$?" 125
	rm "$conf/oc-nsrun.conf"; mkdir "$conf/oc-nsrun.conf"
	status "$caller: a directory" 125 run -- true
	rmdir "$conf/oc-nsrun.conf"
	printf 'profile any\0project any\n' | write oc-nsrun.conf
	status "$caller: a NUL byte" 125 run -- true
	head -c 70000 /dev/zero | tr '\0' '#' | write oc-nsrun.conf
	status "$caller: more than 64 KiB" 125 run -- true
	printf 'profile any\n' | write oc-nsrun.conf; chmod 600 "$conf/oc-nsrun.conf"
	[ $caller = user ] && { status "$caller: one that cannot be read" 125 run -- true; }
	rm -f "$conf"/*
done
done_testing
