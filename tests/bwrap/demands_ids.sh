# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh disable=SC2154,SC2086,SC2016
# Ids, rights, namespaces, limits, and what pid 1 gives away.

setid_copies() {
	[ "$caller" = user ] && [ "$(id -u)" = 0 ] || return
	case $(findmnt -nT "$work" -o OPTIONS 2>/dev/null) in
	*nosuid*) skip "a set-ID copy" "$work is nosuid"; return ;;
	esac
	# CVE-2016-8659, CVE-2020-5291, CVE-2026-41163
	for program in bwrap oc-nsrun; do
		words="--ro-bind / / touch ran"
		[ $program = bwrap ] || words="bwrap $words"
		from=$work/bin/bwrap
		[ $program = bwrap ] || from=$oc
		for mode in 4755 2755 caps; do
			install -m "${mode%caps}755" "$from" "$work/bin/copy" 2>/dev/null ||
				install -m 755 "$from" "$work/bin/copy"
			[ $mode = caps ] || chmod $mode "$work/bin/copy"
			[ $mode != caps ] || setcap cap_sys_admin+ep "$work/bin/copy" \
				2>/dev/null || { skip "$program with capabilities" "no setcap"; continue; }
			said=$(as user "$work/bin/copy" $words 2>&1)
			rc=$?
			isnt "user: $program refuses: $mode" $rc 0
			like "... and says why" "$said" "*runs neither setuid nor with file capabilities*"
			ok "... and did nothing" gone "$P/ran"
		done
	done
	rm -f "$work/bin/copy"
}

# waiting NAME FLAGS: new namespaces, those of the process $joined until let_go.
waiting() {
	rm -f "$T/$1".*
	waiting_for=$1; shift
	own unshare "$@" sh -c 'echo $$ >"$1.new"; mv "$1.new" "$1.pid"
		until [ -e "$1.go" ]; do sleep 0.05; done' _ "$T/$waiting_for" &
	waiter=$!
	eventually "$caller: namespaces to join: $*" test -e "$T/$waiting_for.pid"
	joined=/proc/$(pid_of "$waiting_for")
}

# The same, and one more below it: $child.
waiting_twice() {
	rm -f "$T/two".*
	own unshare -Ur sh -c 'echo $$ >"$1.pid"; unshare -Ur sh -c "
		echo \$\$ >\"\$1.new\"; mv \"\$1.new\" \"\$1.child\"
		until [ -e \"\$1.go\" ]; do sleep 0.05; done" _ "$1"' _ "$T/two" &
	waiter=$!
	eventually "$caller: namespaces in one another" test -e "$T/two.child"
	joined=/proc/$(pid_of two) child=/proc/$(cat "$T/two.child")
}

# The five sets and no_new_privs after every way in (CVE-2020-5291).
rights() {
	waiting_twice
	uid=$(own id -u) gid=$(own id -g)
	while IFS='|' read -r list ids words; do
		got=$(as "$caller" "$probe" only "$list" timeout 20 bwrap --ro-bind / / \
			--proc /proc $words sh -c 'id -u; id -g
			grep -E "^(Cap|NoNew)" /proc/self/status | cut -f 2 | sort -u' 2>&1)
		is "$caller: rights:${words:+ }$words" "$(echo "$got" | words)" \
			"$ids 0000000000000000 1"
	done <<-EOT
		-|$uid $gid|
		-|$uid $gid|--unshare-user
		-|7 8|--unshare-user --uid 7 --gid 8
		-|$uid $gid|--unshare-user --disable-userns
		-|7 $gid|--unshare-all --unshare-user --uid 7 --dev /dev --disable-userns
		-|0 0|--unshare-user --uid 0 --gid 0
		5=$joined/ns/user|0 0|--userns 5
		5=$joined/ns/user|0 0|--userns 5 --unshare-pid
		5=$joined/ns/user,6=$child/ns/user|0 0|--userns 5 --userns2 6
		5=$joined/ns/user,6=$child/ns/user|0 0|--userns 5 --userns2 6 --unshare-pid
	EOT
	is "$caller: --cap-add is what there is" "$(run --ro-bind / / --proc /proc \
		--unshare-user --cap-add CAP_NET_ADMIN "$probe" caps | cut -f 2 | sort -u)" \
		0000000000001000
	is "$caller: they are closed in the command" "$(fd \
		"5=$joined/ns/user,6=$child/ns/user" --ro-bind / / --userns 5 --userns2 6 \
		"$probe" fds)" "0 1 2"
	let_go two; wait $waiter
	is "$caller: --disable-userns with capabilities" "$(run --ro-bind / / \
		--unshare-user --disable-userns --cap-add ALL "$probe" try userns)" "userns ENOSPC"
}

# The kernel maps uid 0 for nobody but who has CAP_SETFCAP.
nested() {
	[ "$caller" = root ] && more='--cap-add CAP_SETFCAP' || more=
	for inner in bwrap /usr/bin/bwrap; do
		command -v $inner >/dev/null || continue
		is "$caller: $inner in ours" "$(run $all $more --proc /proc --unshare-pid \
			$inner --unshare-user --ro-bind / / echo inner 2>&1)" inner
	done
	is "$caller: five deep" "$(set -- "$probe" caps
		for _ in 1 2 3 4 5; do
			set -- bwrap $more --unshare-user --ro-bind / / --dev /dev \
				--proc /proc -- "$@"
		done; own "$@" 2>&1 | cut -f 2 | sort -u)" "$(
		[ "$caller" = root ] && echo 0000000080000000 || echo none)"
	[ "$caller" = user ] || bad "... which has to be asked for" \
		"setting up uid map: Operation not permitted" - $all --proc /proc \
		bwrap --unshare-user --ro-bind / / touch ran
	# #380, #397: what it has is dropped.
	is "$caller: with capabilities" "$(run $all --proc /proc --unshare-user \
		--cap-add ALL -- bwrap --ro-bind / / --proc /proc "$probe" caps 2>&1)" none
	if [ "$caller" = user ] && [ "$(id -u)" = 0 ]; then
		is "user: ambient capabilities (#709)" "$(cd "$P" && setpriv \
			--reuid $user_id --regid $user_id --clear-groups \
			--inh-caps=+wake_alarm --ambient-caps=+wake_alarm bwrap \
			--ro-bind / / --proc /proc "$probe" caps 2>&1)" none
	fi
	[ "$caller" = root ] || return
	is "root: without CAP_SYS_ADMIN (#135)" "$(own setpriv --bounding-set \
		-sys_admin bwrap --ro-bind / / echo started 2>&1)" started
	said=$(own unshare -m sh -c 'mkdir -p jail/proc
		for f in $(ldd "$1" | grep -o "/[^ ]*"); do
			mkdir -p "jail${f%/*}"; cp -L "$f" "jail$f"
		done; cp -L "$1" jail/bwrap
		mount -t proc proc jail/proc
		chroot jail /bwrap --bind / / /bwrap --version; echo "status $?"
		mount --bind jail jail; mount -t proc proc jail/proc
		chroot jail /bwrap --bind / / /bwrap --version' _ "$bwrap" 2>&1 | words)
	is "root: a chroot, and one on a mount point" "$said" \
		"bwrap: Failed to make / slave: Invalid argument status 1 bubblewrap 0.11.1"
	own rm -rf jail
}

maps() {
	if [ "$caller" = root ]; then
		is "root: ranges of ids (#468)" "$(run --ro-bind / / --proc /proc \
			--unshare-user --uid 1000 --gid 1000 \
			--uid-map 0:100000:1000 --uid-map 1000:0:1 \
			--gid-map 0:100000:1000 --gid-map 1000:0:1 cat /proc/self/uid_map /proc/self/gid_map |
			words)" "0 100000 1000 1000 0 1 0 100000 1000 1000 0 1"
		return
	fi
	name=$(own id -un 2>/dev/null)
	range=$(sed -n "s/^${name:-none}:\([0-9]*\):.*/\1/p" /etc/subuid 2>/dev/null | head -n 1)
	if [ -z "$range" ] || ! command -v newuidmap >/dev/null; then
		# No right to any: refused, by one line.
		bad "ranges of ids without newuidmap or a grant" "*" - --ro-bind / / \
			--unshare-user --uid-map 0:100000:1000 --gid-map 0:100000:1000 touch ran
		skip "user: ranges of ids (#468)" "no newuidmap, or nothing in /etc/subuid"
	else
		is "user: ranges of ids (#468)" "$(run --ro-bind / / --proc /proc \
			--unshare-user --uid-map "0:$range:10" --gid-map "0:$range:10" \
			cat /proc/self/uid_map | words)" "0 $range 10"
	fi
}

networks() {
	waiting net -Urn
	is "$caller: --netns (#698)" "$(fd "5=$joined/ns/user,6=$joined/ns/net" \
		--userns 5 --netns 6 --ro-bind / / --proc /proc sh -c \
		'readlink /proc/self/ns/net; ls /proc/self/fd | wc -l')" \
		"$(readlink "$joined/ns/net")
4"
	let_go net; wait $waiter
	bad "--netns that is none" "*: Invalid argument" 3=/dev/null --ro-bind / / \
		--netns 3 touch ran
	bad "--netns and --unshare-net" "--netns not compatible with --unshare-net" \
		3=/proc/self/ns/net --ro-bind / / --netns 3 --unshare-net touch ran
	# #504: the host's abstract sockets go with the network.
	as "$caller" sh -c 'echo $$ >"$1.pid"; exec "$2" abstract "$3"' _ \
		"$T/served" "$aid" "nsrun-test-$$-$caller" >"$T/served" &
	eventually "$caller: an abstract socket" grep -q up "$T/served"
	is "$caller: ... is reached by the host's network" "$(run --ro-bind / / "$aid" \
		reach "nsrun-test-$$-$caller")" reached
	is "$caller: ... and no other" "$(run --ro-bind / / --unshare-net "$aid" \
		reach "nsrun-test-$$-$caller")" closed
	kill "$(pid_of served)"; wait $!
	rm -f "$T/served"
}

limits() {
	is "$caller: --rlimit (#299)" "$(run --ro-bind / / --rlimit nofile=64 \
		--rlimit core=0 --rlimit fsize=1M sh -c 'ulimit -n; ulimit -Hn; ulimit -c
		ulimit -f' | words)" "64 64 0 2048"
	bad "--rlimit of nothing" "Invalid --rlimit: beer=4" - --ro-bind / / \
		--rlimit beer=4 touch ran
	bad "--rlimit without a value" "Invalid --rlimit: nofile" - --ro-bind / / \
		--rlimit nofile touch ran
}

# What pid 1 shows: /proc/1 of the sandbox is a copy of us.
pid_one() {
	inside="--ro-bind / / --dev /dev --proc /proc --unshare-pid"
	is "$caller: --clearenv (#725)" "$(as "$caller" env SECRET=s3cret timeout 20 \
		bwrap $inside --clearenv --setenv OTHER s3cret --unsetenv OTHER \
		/bin/sh -c '/bin/cat /proc/1/environ /proc/1/cmdline 2>/dev/null |
		/bin/grep -c s3cret')" 0
	unlike "$caller: ... tells no path of the host" "$(run $inside sh -c \
		'tr "\0" " " </proc/1/cmdline')" "*/*"
	got=$(for _ in $(seq 40); do run $inside "$aid" peek 20; done | sort | uniq -c | words)
	is "$caller: no directory of the host is open" "$got" "40 0"
	# CVE-2019-5736 and its kind: the program is the host's.
	if [ "$caller" = root ]; then
		for how in --unshare-pid '--lock-file /etc/passwd' --as-pid-1; do
			before=$(stat -c '%a %Y %i' "$bwrap")
			# Only ours: without a pid namespace these are the host's
			# processes, pid 1 among them.
			run --ro-bind / / --dev /dev --proc /proc $(case $how in
				--as*) echo --unshare-pid ;; esac) $how sh -c '
				for exe in /proc/[0-9]*/exe; do
					[ "$(readlink $exe)" = "$1" ] || continue
					chmod 4777 $exe; touch $exe; : >>$exe
				done' _ "$bwrap" >/dev/null 2>&1
			is "root: the host's program: $how" "$(stat -c '%a %Y %i' "$bwrap")" "$before"
		done
	fi
}

filters() {
	: >"$T/none"
	"$probe" filter codex >"$T/filter"
	head -c 40000 /dev/zero >"$T/long"; head -c 12 /dev/zero >"$T/odd"
	head -c 16 /dev/zero >"$T/wrong"
	chmod 644 "$T/none" "$T/filter" "$T/long" "$T/odd" "$T/wrong"
	for option in --seccomp --add-seccomp-fd; do
		bad "$option: empty (#317)" "Invalid seccomp data, it is empty" \
			"3=$T/none" --ro-bind / / $option 3 touch ran
		bad "$option: too long" "Invalid seccomp data, more than 4096 instructions" \
			"3=$T/long" --ro-bind / / $option 3 touch ran
		bad "$option: of odd length" "Invalid seccomp data, must be multiple of 8" \
			"3=$T/odd" --ro-bind / / $option 3 touch ran
		for how in '' --unshare-pid; do
			bad "$option: refused by the kernel${how:+, }$how" \
				"prctl(PR_SET_SECCOMP): Invalid argument*" "3=$T/wrong" \
				--ro-bind / / $how $option 3 touch ran
		done
		is "$caller: $option: one that is good" "$(fd "3=$T/filter" --ro-bind / / \
			$option 3 "$probe" try ptrace)" "ptrace EPERM"
	done
	rm -f "$T/none" "$T/filter" "$T/long" "$T/odd" "$T/wrong"
}

demand_ids() {
	setid_copies; rights; nested; maps; networks; limits; pid_one; filters
}
document_ids() {
	documented "no set-ID" "it refuses to run with the set-user-ID bit or with file capabilities"
	documented "capabilities" "A caller that is not root and has capabilities is not refused: they are dropped."
	documented "sandboxes in root's" "needs -cap-add CAP_SETFCAP outside"
	documented "pid 1" "/proc/1/environ and /proc/1/cmdline show nothing of the caller."
	documented "abstract sockets" "Without -unshare-net it also reaches the abstract sockets of the host."
	documented "descriptors of namespaces" "are closed in the command."
}
