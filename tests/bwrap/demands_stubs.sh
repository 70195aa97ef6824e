# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh disable=SC2154,SC2086
# Mount points that are made in directories of the host (#427).

mask() { echo "$all --bind $P $P --bind $T $T --ro-bind /dev/null $P/$1"; }

ends() {
	for how in '' --unshare-pid '--unshare-pid --as-pid-1'; do
		is "$caller: a mask: ${how:-in place}" "$(run $(mask .x) $how \
			sh -c 'stat -c %F .x; echo x >>.x || echo refused' 2>&1 |
			sed 's/.*: //' | words)" \
			"character special file Permission denied refused"
		case $how in
		*pid*) ok "$caller: ... is gone when we are" gone "$P/.x" ;;
		*) eventually "$caller: ... is gone" gone "$P/.x" ;;
		esac
	done
	status "$caller: a command that cannot be executed" 1 \
		run $(mask .x) --unshare-pid /no/such/command
	eventually "$caller: ... leaves no mask" gone "$P/.x"
	status "$caller: a mount that fails" 1 run $(mask .x) \
		--bind /no/such/source /mnt true
	eventually "$caller: ... leaves no mask" gone "$P/.x"
	run $(mask a/b/c) --tmpfs "$P/d/e" --unshare-pid true
	is "$caller: with all of its parents" "$(own ls -A)" ""
	# More than one process may have descriptors for.
	own sh -c 'for i in $(seq 1500); do
		printf "%s\0" --ro-bind /dev/null "$PWD/s$i"
	done >"$1/args"' _ "$T"
	is "$caller: 1,500 of them" "$(fd "3=$T/args" $(mask .x) --unshare-pid \
		--args 3 sh -c 'ls | wc -l')" 1500
	eventually "$caller: ... are gone" test -z "$(own ls -A)"
	own rm -f "$T/args"
}

killed() {
	hold first $(mask .x) --die-with-parent --unshare-pid
	ok "$caller: a mask is there" test -e "$P/.x"
	kill -KILL "$(pid_of first)"; wait
	eventually "$caller: after kill -9 it is gone" gone "$P/.x"
	hold first $(mask .x) --die-with-parent
	kill -KILL "$(pid_of first)"; wait
	eventually "$caller: also in place" gone "$P/.x"
	hold first $(mask .x) --unshare-pid
	kill -KILL "$(pid_of first)"; wait
	run $(mask .y) --unshare-pid true
	ok "$caller: but not while the sandbox goes on" test -e "$P/.x"
	let_go first
	eventually "$caller: ... only then" gone "$P/.x"
	is "$caller: killed at any moment" "$(own "$aid" kills 96 it bwrap \
		$(mask .x) --die-with-parent --unshare-pid sleep 99 2>/dev/null)" \
		"nothing is left"
	eventually "$caller: ... no mask is left" gone "$P/.x"
}

lingers() {
	rm -f "$T"/bg.*
	as "$caller" "$probe" only - timeout 30 bwrap $(mask .x) --unshare-pid sh -c '
		(until [ -e "$1.go" ]; do sleep 0.02; done
		[ -c .x ] && echo masked >"$1.saw") & exit 4' _ "$T/bg" >/dev/null 2>&1
	is "$caller: a command that leaves one behind" $? 4
	ok "$caller: ... and its mask" test -e "$P/.x"
	let_go bg
	eventually "$caller: ... which goes with the last" gone "$P/.x"
	is "$caller: ... and held until then" "$(cat "$T/bg.saw")" masked
}

shared() {
	for how in '' --unshare-pid; do
		hold first $(mask .x) $how
		first=$holder
		as "$caller" "$probe" only - bwrap $(mask .x) $how sh -c 'echo >"$1.up"
			until [ -e "$1.go" ]; do sleep 0.02; done
			[ -c .x ] && echo masked >"$1.saw"; echo x >>.x' _ "$T/second" &
		second=$!
		for _ in $(seq 1000); do
			[ ! -e "$T/second.up" ] || break
			sleep 0.01
		done
		let_go first
		began=$(date +%s%N)
		wait $first
		ok "$caller: nobody waits for another: ${how:-in place}" \
			test $(($(date +%s%N) - began)) -lt 3000000000
		# Another start and end gives what waits its time.
		run $(mask .y) --unshare-pid true
		ok "$caller: shared: it outlives the first: ${how:-in place}" \
			test -e "$P/.x"
		let_go second
		wait $second
		is "$caller: ... the second is masked to its end" \
			"$(cat "$T/second.saw")" masked
		eventually "$caller: ... then it is gone" gone "$P/.x"
		rm -f "$T"/second.*
	done
}

users() {
	own sh -c ': >empty; : >closed; chmod 444 closed; mkdir dir
		touch -d 2001-01-01 closed'
	own sh -c ': >young; chmod 444 young'
	run $(mask empty) --ro-bind /dev/null "$P/closed" --tmpfs "$P/dir" \
		--ro-bind /dev/null "$P/young" --unshare-pid true
	is "$caller: what was there stays" "$(own ls -A | words)" "closed dir empty young"
	own rm -rf empty closed dir young
	hold first $(mask full) --ro-bind /dev/null "$P/replaced" \
		--ro-bind /dev/null "$P/linked" --tmpfs "$P/dir" --unshare-pid
	own sh -c 'chmod 644 full && echo text >full; rm -f replaced
		echo text >replaced; ln linked link; echo text >dir/file'
	let_go first; wait
	eventually "$caller: the janitor has ended" sh -c '[ -z "$(for d in /proc/[0-9]*; do
		case $(readlink $d/exe) in "$1"*) echo x ;; esac; done)" ]' _ "$work/bin/bwrap"
	is "$caller: what became the user's stays" "$(own ls -A | words)" \
		"dir full link linked replaced"
	is "$caller: ... with its text" "$(own cat full replaced dir/file | words)" "text text text"
	own rm -rf full replaced link linked dir
	# Asked for by name, these stay.
	fd "7=/dev/null" --ro-bind / / --bind "$P" "$P" --dir "$P/a" \
		--file 7 "$P/b" --symlink c "$P/c" --unshare-pid true
	is "$caller: what was asked for stays" "$(own ls -A | words)" "a b c"
	own rm -rf a b c
}

demand_stubs() {
	# A writable project of nothing else.
	own sh -c 'rm -rf ./* ./.[!.]*'
	ends; killed; lingers; shared; users
}
document_stubs() {
	documented "mount points are removed" "is removed again when the last process of the sandbox is gone, also when oc-bwrap was killed"
	documented "... or shared" "Sandboxes that run at the same time share it."
	documented "... or stay" "What -dir , -file and -symlink make there was asked for and stays."
}
