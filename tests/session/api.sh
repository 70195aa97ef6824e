#!/bin/sh
# One session and many launches, through nsrun.h: what was fixed stays fixed.
. "${srcdir:?}"/tests/lib.sh
need_sandbox
cp "$top_builddir"/tests/session/host "$work"/host || exit 99

# host CALLER [VAR=VALUE...] <SCRIPT: what it says, on one line each
host() {
	host_caller=$1; shift
	cat >"$work/script.$$"; chmod 644 "$work/script.$$"
	as "$host_caller" env "$@" "$work"/host "$work/script.$$" 2>&1 </dev/null
}
# says WHAT CALLER WANT <SCRIPT: a pattern of case
says() {
	what=$1 says_caller=$2 want=$3; shift 3
	like "$says_caller: $what" "$(host "$says_caller" "$@")" "$want"
}

for caller in $callers; do
	p=$(project "$caller") d=$work/$caller
	as "$caller" sh -c 'mkdir ../other ../ro ../rw sub; echo here >file; echo ro >../ro/f; echo s >secret'
	o=$(home "$caller")/other

	says "many launches from one session" "$caller" "register: ok
many: 30 of 30
release: ok" <<-E
	register s project=$p
	many 30 s -- test "\$(cat file)" = here && echo >>made
	release s
	E
	is "$caller: ... all ran" "$(wc -l <"$p/made")" 30
	said=$(host "$caller" <<-E
	fds
	register s project=$p ro=$d/home/ro
	fds
	many 10 s -- true
	launch s -- exit 3
	launch s limit=files=x -- true
	launch s cwd=/nowhere -- true
	launch s -- exec no-such-file
	fds
	release s
	fds
	E
	)
	fds=$(echo "$said" | sed -n 's/^fds: //p' | tr '\n' ' ')
	# shellcheck disable=SC2086
	set -- $fds
	is "$caller: a session has a descriptor a root" "$(($2 - $1))" 2
	is "$caller: ... launches, failed ones too, leave none" "$3" "$2"
	is "$caller: ... and the release none" "$4" "$1"
	says "at once from threads" "$caller" "register: ok
threads: 8 of 8
fds: *
many: 5 of 5" <<-E
	register s project=$p
	threads 8 s -- cat file >/dev/null
	fds
	many 5 s -- true
	E
	says "a plan outlives its session" "$caller" "register: ok
here
launch: status 0" <<-E
	register s project=$p mask=$p/secret env=A=1
	late s -- cat file; test "\$A" = 1 && test ! -s secret
	E

	# The roots are what they were: who has the rights to take a tree by its
	# descriptor alone gets that one, and all others an error.
	case $caller in
	root) pinned="here
launch: status 0" ;;
	*) pinned="launch: error: mount $p*: *" ;;
	esac
	says "another directory at the root's path" "$caller" "register: ok
launch: status 0
$pinned
launch: status 0
release: ok" <<-E
	register s project=$p
	launch s -- test -e file
	! mv $p $p.away && mkdir $p && echo evil >$p/file
	launch s -- cat file
	! rm -r $p && mv $p.away $p
	launch s -- test "\$(cat file)" = here
	release s
	E
	says "... a link there" "$caller" "register: ok
launch: error: * $p: *" <<-E
	register s project=$p
	! mv $p $p.away && ln -s $p.away $p
	launch s -- cat file
	! rm $p && mv $p.away $p
	E
	says "... nothing there" "$caller" "register: ok
launch: error: * $p: *" <<-E
	register s project=$p
	! mv $p $p.away
	launch s -- cat file
	! mv $p.away $p
	E
	case $caller in
	root) pinned="ro
launch: status 0" ;;
	*) pinned="launch: error: mount $d/home/ro*: *" ;;
	esac
	says "... an extra root" "$caller" "register: ok
$pinned
launch: status 0" <<-E
	register s project=$p ro=$d/home/ro
	! mv $d/home/ro $d/home/ro.away && cp -r $o $d/home/ro && echo evil >$d/home/ro/f
	launch s -- cat $d/home/ro/f
	! rm -r $d/home/ro && mv $d/home/ro.away $d/home/ro
	launch s -- test "\$(cat $d/home/ro/f)" = ro
	E

	# An id is of one set of grants.
	says "an id again, with the same" "$caller" "register: ok
register: ok
release: ok
launch: status 0
release: ok
register: ok" <<-E
	register s project=$p ro=$d/home/ro mask=secret
	register s project=$p/../project ro=$d/home/ro mask=secret
	release s
	launch s -- true
	release s
	register s project=$o
	E
	for other in project=$o "project=$p rw=$o" "project=$p ro=$d/home/ro" "" \
	    "project=$p mask=x" "project=$p env=A=2" "project=$p env=A" "project=$p network=isolated" \
	    "project=$p cwd=$p/sub" "project=$p temp=host" "project=$p on-hazard=shield" "project=$p as=keep"; do
		says "an id again, for \"${other##*/}\"" "$caller" "register: ok
register: error: option session -> s: is registered already, with other roots or grants
launch: status 0" <<-E
		register s project=$p
		register s $other
		launch s -- test -e file
		E
	done
	says "an id again, and the root was replaced" "$caller" "register: ok
register: error: *is registered already*" <<-E
	register s project=$p
	! mv $p $p.away && mkdir $p
	register s project=$p
	! rmdir $p && mv $p.away $p
	E
	says "two sessions" "$caller" "register: ok
register: ok
launch: status 0
launch: status 0
release: ok
launch: status 0" <<-E
	register a project=$p
	register b project=$o
	launch a -- test -e file && test ! -e $o
	launch b -- test ! -e $p
	release a
	launch b -- true
	E

	# Who says what.
	for word in project=$p ro=$o rw=$o as=keep temp=private on-hazard=shield; do
		says "a launch cannot say ${word%%=*}" "$caller" "register: ok
launch: error: option --${word%%=*}: was fixed with the session" <<-E
		register s project=$p
		launch s $word -- true
		E
	done
	for word in profile=shell server=a/b hook-mode=full stdin=null limit=cpu=1s timeout=1s max-output=1K; do
		says "a session cannot say ${word%%=*}" "$caller" \
			"register: error: option --${word%%=*}: is for each launch to say, not for its session" <<-E
		register s project=$p $word
		E
	done
	says "a session has no command" "$caller" "register: error: *has no command*" <<-E
	register s project=$p -- true
	E
	says "nor what it may not grant" "$caller" "register: error: * /usr: is too broad*
register: error: *X_TOKEN: looks like a credential*
register: error: *is in no granted root*
register: error: *is not a directory*
register: error: *No such file*
register: ok" <<-E
	register s project=/usr
	register s project=$p env=X_TOKEN=1
	register s project=$p cwd=$o
	register s project=$p cwd=$p/file
	register s project=$p/nothing
	register s project=$p
	E

	# Grants, and what a launch makes of them.
	says "variables have the values of then" "$caller" "register: ok
1 2 none none
launch: status 0
1 9 none none
launch: status 0
launch: error: environment C: is not granted by the session
1 2 none none
launch: status 0" A=1 OPENCLAUDIA_AGENT_ENV_GRANTS=A <<-'E'
	register s env=B=2 env=E
	launch s -- echo "$A $B ${C-none} ${E-none}"
	setenv A 7
	setenv E 5
	setenv OPENCLAUDIA_AGENT_ENV_GRANTS C
	launch s env=B=9 env=E -- echo "$A $B ${C-none} ${E-none}"
	launch s env=C=1 -- true
	launch s env=A env=B -- echo "$A $B ${C-none} ${E-none}"
	E
	says "masks of both" "$caller" "register: ok
launch: status 0
launch: status 0
here
launch: status 0" <<-E
	register s project=$p mask=secret
	launch s mask=file -- test ! -e secret && test ! -e file
	launch s mask=$p/sub -- test ! -e secret && test -e file && ! touch sub/x 2>/dev/null
	launch s -- : >sub/x; cat file
	E
	says "a working directory of its own" "$caller" "register: ok
$p/sub
launch: status 0
$p
launch: status 0
launch: error: root $o: is in no granted root" <<-E
	register s project=$p cwd=$p/sub
	launch s -- pwd
	launch s cwd=$p -- pwd
	launch s cwd=$o -- pwd
	E
	says "nesting that was granted, and not" "$caller" "register: ok
launch: status 0*
launch: error: option --nesting -> allow: is not granted by the session" <<-E
	register a nesting=allow
	launch a nesting=allow -- unshare -Ur true
	register b
	launch b nesting=allow -- unshare -Ur true
	E
	says "the network that was granted" "$caller" "register: ok
launch: status 0
launch: status 0
register: ok
launch: error: option --network -> isolated: is not granted by the session
register: ok
launch: error: option --network -> isolated: is not granted by the session" <<-E
	register a network=isolated
	launch a network=isolated -- true
	launch a network=denied -- true
	register b network=denied
	launch b network=isolated -- true
	register c
	launch c network=isolated -- true
	E
	says "profiles of each launch" "$caller" "register: ok
launch: status 0
launch: error: *wants --server*" <<-E
	register s project=$p
	launch s profile=quality-gate -- test -e file
	launch s profile=mcp-stdio -- true
	E

	# A directory on the host.
	said=$(host "$caller" <<-E
	register s project=$p temp=host
	temp s
	register s project=$p temp=host
	launch s -- echo one >\$TMPDIR/f; echo "\$TMPDIR"
	launch s -- cat \$TMPDIR/f
	release s
	launch s -- cat \$TMPDIR/f
	release s
	register t project=$p
	temp t
	E
	)
	temp=$(echo "$said" | sed -n '2s/^temp: //p')
	like "$caller: a directory of the session's" "$said" "register: ok
temp: /*/oc-nsrun-*/tmp
register: ok
$temp
launch: status 0
one
launch: status 0
release: ok
one
launch: status 0
release: ok
register: ok
temp: none"
	fails "$caller: ... is gone with it" test -e "${temp%/tmp}"
	said=$(host "$caller" <<-E
	register s project=$p temp=host
	temp s
	! cd "\${SESSION_TEMP%/tmp}" && mv tmp $d/home/was && mkdir tmp && echo kept >tmp/f
	launch s -- true
	release s
	E
	)
	temp=$(echo "$said" | sed -n '2s/^temp: //p')
	like "$caller: ... another one in its place" "$said" "register: ok
temp: /*/tmp
launch: *
release: error: *was replaced since it was made, and is left alone"
	is "$caller: ... is left alone" "$(cat "$temp/f")" kept
	case $temp in /tmp/oc-nsrun-*) rm -r "${temp%/tmp}" ;; esac
done
done_testing
