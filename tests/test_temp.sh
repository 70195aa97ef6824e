#!/bin/sh
# --temp host: one directory, at the same path inside and outside, gone at the
# end, whoever was killed.
. "${srcdir:?}"/tests/lib.sh
need_sandbox

for caller in $callers; do
	p=$(project "$caller") base=$work/$caller/runtime
	mkdir -m 700 "$base"
	[ "$(id -u)" = 0 ] && [ "$caller" = user ] && chown $user_id:$user_id "$base"
	with() { as "$caller" env XDG_RUNTIME_DIR="$base" "$oc" run --stdin null --project . "$@"; }
	run() { with --temp host "$@"; }
	left() { find "$base" -mindepth 1 | wc -l; }

	dir=$(run -- sh -c 'echo $TMPDIR')
	like "$caller: in XDG_RUNTIME_DIR" "$dir" "$base/oc-nsrun-????????????????/tmp"
	is "$caller: gone at the end" "$(left)" 0
	is "$caller: TMP and TEMP too" "$(run -- sh -c '[ $TMP = $TMPDIR ] && [ $TEMP = $TMPDIR ] && stat -c %a $TMPDIR')" 700
	status "$caller: mktemp" 0 run -- sh -c 'f=$(mktemp) && echo x >$f'
	unlike "$caller: each launch has its own" "$(run -- sh -c 'echo $TMPDIR')" "$dir"
	is "$caller: the status is the command's" "$(run -- sh -c 'exit 7'; echo $?)" 7
	is "$caller: the host sees what is in it" "$( (run -- sh -c 'echo word >$TMPDIR/f; sleep 2') & 
		for _ in $(seq 50); do
			cat "$base"/oc-nsrun-*/tmp/f 2>/dev/null && break
			sleep 0.1
		done; wait)" word
	is "$caller: the outer directory is the caller's alone" "$( (run -- sleep 2) & sleep 0.7; stat -c %a "$base"/oc-nsrun-*; wait)" 700
	is "$caller: nothing is left" "$(left)" 0

	# What a command may leave in it.
	echo keep >"$work/$caller/sentinel"
	status "$caller: closed, deep and odd things" 0 run -- sh -c '
		cd $TMPDIR && mkdir -p a/b/c closed/x && echo 1 >closed/x/f && chmod 0 closed &&
		ln -s '"$work/$caller"' link && ln -s / root && mkfifo fifo && echo x >"$(printf "n\nx\377")" &&
		exec perl -e "for (1 .. 300) { mkdir q(d) x 200; chdir q(d) x 200 or die; }"'
	is "$caller: ... all gone" "$(left)" 0
	is "$caller: ... and nothing else" "$(cat "$work/$caller/sentinel")" keep
	status "$caller: the directory closed" 0 run -- sh -c 'mkdir $TMPDIR/x; chmod 0 $TMPDIR'
	is "$caller: ... gone" "$(left)" 0
	status "$caller: it cannot be moved away" 0 run -- sh -c '! mv $TMPDIR /tmp/elsewhere 2>/dev/null'

	# Killed: the next one removes it, and none that is in use.
	as "$caller" env XDG_RUNTIME_DIR="$base" sh -c 'echo $$ >killed; exec "$@"' sh \
		"$oc" run --stdin null --project . --temp host -- sh -c 'echo x >$TMPDIR/f; touch ready; sleep 60' &
	child=$!
	eventually "$caller: one runs" test -e "$p/ready"
	kill -9 "$(cat "$p/killed")"; wait $child 2>/dev/null
	rm -f "$p/ready"
	unlike "$caller: killed, it stays" "$(left)" 0
	as "$caller" env XDG_RUNTIME_DIR="$base" "$oc" run --stdin null --project . --temp host -- \
		sh -c 'echo $TMPDIR >used; touch ready; sleep 3' &
	child=$!
	eventually "$caller: another runs" test -e "$p/ready"
	is "$caller: ... which removed it" "$(ls "$base" | wc -l)" 1
	status "$caller: a third" 0 run -- true
	ok "$caller: ... leaves the other's alone" test -d "$(cat "$p/used")"
	wait $child
	is "$caller: nothing is left at last" "$(left)" 0
	mkdir "$base/oc-nsrun-0123456789abcdef"; ln -s "$work/$caller" "$base/oc-nsrun-0123456789abcdee"
	mkdir -m 700 "$base/oc-nsrun-other"; echo x >"$base/oc-nsrun-0123456789abcded"
	status "$caller: names that are not ours" 0 run -- true
	is "$caller: ... stay" "$(ls "$base" | wc -l)" 4
	rm -rf "$base"/*

	# Replaced: told, and left alone. Only who owns it on the host can.
	(run -- sh -c 'touch ready; sleep 2' 2>"$work/said") & child=$!
	rm -f "$p/ready"; eventually "$caller: one more" test -e "$p/ready"
	outer=$(echo "$base"/oc-nsrun-*)
	mv "$outer/tmp" "$outer/moved" && mkdir "$outer/tmp" && echo x >"$outer/tmp/keep"
	wait $child
	is "$caller: a directory that was replaced stays" "$(cat "$outer/tmp/keep")" x
	like "$caller: ... and is told" "$(cat "$work/said")" "*was replaced since it was made*"
	rm -rf "$base"/*

	like "$caller: explain makes none" "$(as "$caller" env XDG_RUNTIME_DIR="$base" "$oc" explain --temp host -- true; left)" "*0"
	chmod 755 "$base"
	like "$caller: a base that others may enter is none" "$(run -- sh -c 'echo $TMPDIR')" "/tmp/oc-nsrun-*"
	chmod 700 "$base"
	is "$caller: private is in memory" "$(with --temp private -- sh -c 'echo $TMPDIR')" /tmp
	status "$caller: another word" 125 with --temp disk -- true
done
ls -d /tmp/oc-nsrun-????????????????/tmp >/dev/null 2>&1 && diag "there are directories of other sessions in /tmp"
done_testing
