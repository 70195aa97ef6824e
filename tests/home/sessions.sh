#!/bin/sh
# Homes and credentials of sessions, through nsrun.h: one home for all launches,
# fixed when the session is made, and gone with it.
. "${srcdir:?}"/tests/lib.sh
. "$srcdir"/tests/home/home.sh
need_sandbox
cp "$top_builddir"/tests/session/host "$work"/host || exit 99

# says WHAT WANT <SCRIPT: what the host says to that
says() {
	what=$1 want=$2
	cat >"$work/script"; chmod 644 "$work/script"
	like "$caller: $what" "$(as "$caller" "$work"/host "$work/script" 2>&1 </dev/null)" "$want"
}
items() { find "$state" -mindepth 2 -maxdepth 2 2>/dev/null | wc -l; }

for caller in $callers; do
	furnish "$caller"
	c=$h/.claude/.credentials.json
	before=$(tree "$h")
	says "a private home is the session's" "register: ok
launch: status 0
launch: status 0
register: ok
launch: status 1
release: ok
release: ok" <<-E
	register s project=$p home=private state-dir=$state
	launch s -- echo x >~/x
	launch s -- grep -q x ~/x
	register t project=$p home=private state-dir=$state
	launch t -- test -e ~/x
	release t
	release s
	E
	is "$caller: ... and gone with it" "$(items)" 0
	says "one with a name stays" "register: ok
launch: status 0
release: ok
register: ok
launch: status 0
threads: 8 of 8
release: ok" <<-E
	register s project=$p home=private=n state-dir=$state
	launch s -- echo x >~/x
	release s
	register s project=$p home=private=n state-dir=$state
	launch s -- grep -q x ~/x
	threads 8 s -- grep -q x ~/x
	release s
	E
	says "in use, it is not released by others" "register: ok
*lock: Resource temporarily unavailable*
release: ok
released" <<-E
	register s project=$p home=private=n state-dir=$state
	! $oc home --state-dir $state release private=n || :
	release s
	! $oc home --state-dir $state release private=n && echo released
	E
	says "an overlay is each launch's own" "register: ok
launch: status 0
launch: status 0
threads: 8 of 8
release: ok" <<-E
	register s project=$p home=overlay state-dir=$state
	launch s -- rm ~/plain/deep/file && ! test -e ~/.ssh/id
	launch s -- cat ~/plain/deep/file >/dev/null
	threads 8 s -- echo x >~/x
	release s
	E
	says "what was granted is fixed" "register: ok
launch: error: option --home*: was fixed with the session
launch: error: option --home-keep*: was fixed with the session
launch: error: option --state-dir*: was fixed with the session
launch: error: option --credential*: was fixed with the session
launch: error: option --credential-copy*: was fixed with the session
launch: error: option --credential-return*: was fixed with the session
register: error:*with other roots or grants*
register: error:*with other roots or grants*
register: ok
release: ok
release: ok
register: error: option --home-keep: is for one launch at a time, not for a session" <<-E
	register s project=$p home=tmpfs credential=$c
	launch s home=overlay -- true
	launch s home-keep=x -- true
	launch s state-dir=/tmp -- true
	launch s credential=$h/.ssh/id -- true
	launch s credential-copy=$h/.ssh/id -- true
	launch s credential-return -- true
	register s project=$p home=overlay credential=$c
	register s project=$p home=tmpfs credential=$h/.ssh/id
	register s project=$p home=tmpfs credential=$c
	release s
	release s
	register k project=$p home=overlay home-keep=x
	E
	is "$caller: the host's home is as it was" "$(tree "$h")" "$before"
	says "a copy is the session's, where the home is" "register: ok
launch: status 0
launch: status 0
release: ok" <<-E
	register s project=$p home=private state-dir=$state credential-copy=$c
	launch s -- grep -q host $c && echo mine >$c
	launch s -- grep -q mine $c
	release s
	E
	is "$caller: the host's home is still as it was" "$(tree "$h")" "$before"
	says "a copy is handed back when a launch ends" "register: ok
launch: status 0
{\"token\": 2}
launch: status 0
{\"token\": 3}
release: ok" <<-E
	register s project=$p credential-copy=$c credential-return
	launch s -- echo '{"token": 2}' >$c
	! cat $c
	launch s -- grep -q 2 $c && echo '{"token": 3}' >$c
	! cat $c
	release s
	E
done
done_testing
