# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh disable=SC2154,SC2086,SC2016
# Bad input: one line, exit 1, nothing half-started.

# simply PATTERN WORDS...: without descriptors
simply() { pattern=$1; shift; bad "$(echo "$*" | cut -c 1-60)" "$pattern" - "$@"; }

options() {
	# Every option that takes something, at the end of the line.
	bwrap --help | sed -n 's/^    --\([a-z0-9-]* [A-Z].*\)/\1/p' |
	sed 's/  .*//' >"$work/options"
	n=0
	while read -r option operands; do
		n=$((n + 1))
		bad "--$option without an operand" "--$option takes *" - \
			--ro-bind / / "--$option"
		case $operands in *' '*) ;; *) continue ;; esac
		bad "--$option with too few" "--$option takes *" - \
			--ro-bind / / "--$option" 3
	done <"$work/options"
	[ "$caller" = user ] || bad "--uid without a user namespace" \
		"Specifying --uid requires --unshare-user or --userns" - \
		--bind / / --uid 5 touch ran
	ok "$caller: they are many" test $n -gt 40
	for word in --no-such -x - --ro-bind=/ --unshare --BIND --bind-; do
		simply "Unknown option $word" --ro-bind / / "$word" touch ran
	done
	said=$(run 2>&1)
	is "$caller: no command: status" $? 1
	like "$caller: ... and the usage" "$said" "usage: *"
	said=$(run --ro-bind / / 2>&1)
	is "$caller: options and no command: status" $? 1
	simply "execvp : No such file or directory" --ro-bind / / ''
	bad "a tab and a newline in a name" "Unknown option --a?b?c" - "--a	b
c" touch ran
	bad "--argv0 twice" "--argv0 used multiple times" - --argv0 a --argv0 b \
		--ro-bind / / touch ran
}

numbers() {
	for fd in '' x 3x -1 99999999999 0x3 3.0; do
		for option in --args --sync-fd --block-fd --info-fd --json-status-fd \
			--userns --userns2 --pidns --netns --seccomp --userns-block-fd; do
			simply "Invalid fd: $fd" --ro-bind / / $option "$fd" touch ran
		done
		simply "Invalid fd: $fd" --ro-bind / / --file "$fd" /x touch ran
		simply "Invalid fd: $fd" --ro-bind / / --bind-fd "$fd" /x touch ran
	done
	for option in --file --bind-data --ro-bind-data --bind-fd --ro-bind-fd; do
		simply "*99: Bad file descriptor" --bind / / $option 99 /mnt touch ran
	done
	for option in --args --userns --userns2 --pidns --netns --seccomp \
		--add-seccomp-fd; do
		simply "*99*: Bad file descriptor" --bind / / $option 99 touch ran
	done
	for mode in '' 8 755x 0x1ff 10000 -1 u+x ' '; do
		simply "--perms takes an octal argument <= 07777" --bind / / \
			--perms "$mode" --dir /mnt/x touch ran
		simply "--chmod takes an octal argument <= 07777" --bind / / \
			--chmod "$mode" /mnt touch ran
	done
	for size in 0 '' x 1k -1 18446744073709551616 99999999999999999999; do
		simply "--size takes a non-zero number of bytes" --bind / / \
			--size "$size" --tmpfs /mnt touch ran
	done
	simply "--size (for tmpfs) is limited to *" --bind / / \
		--size 18446744073709551615 --tmpfs /mnt touch ran
	for id in '' x -1 2147483648 4294967296; do
		simply "Invalid uid: $id" --unshare-user --uid "$id" --bind / / touch ran
		simply "Invalid gid: $id" --unshare-user --gid "$id" --bind / / touch ran
	done
	for range in '' 1 1:2 1:2:0 1:2:3:4 a:b:c -1:0:1 4294967295:0:1; do
		simply "--uid-map takes INSIDE:OUTSIDE:COUNT" --unshare-user \
			--uid-map "$range" --bind / / touch ran
	done
}

# A descriptor of the wrong kind: a directory, a socket, one that is closed on
# the other side, one that cannot be read.
kinds() {
	for option in --args --seccomp --add-seccomp-fd; do
		bad "$option: a directory" "Can't read $option 3: Is a directory" 3=/ \
			--ro-bind / / $option 3 touch ran
		bad "$option: not for reading" "Can't read $option 3: Bad file descriptor" \
			"3+$T/w" --ro-bind / / $option 3 touch ran
		bad "$option: O_PATH" "Can't read $option 3: Bad file descriptor" \
			3@/etc/passwd --ro-bind / / $option 3 touch ran
	done
	for option in --file --bind-data --ro-bind-data; do
		bad "$option: a directory" "Can't read $option 3: Is a directory" 3=/ \
			--bind / / $option 3 /mnt/x touch ran
		bad "$option: not for reading" "Can't read $option 3: Bad file descriptor" \
			"3+$T/w" --bind / / $option 3 /mnt/x touch ran
	done
	rm -f "$T/w"
	for option in --userns --userns2 --pidns --netns; do
		bad "$option: a file" "*: Invalid argument" 3=/etc/passwd \
			--bind / / $option 3 touch ran
		bad "$option: another namespace" "*: *" 3=/proc/self/ns/uts \
			--bind / / $option 3 touch ran
	done
	bad "--block-fd: a directory" "*--block-fd*: Is a directory" 3=/ \
		--bind / / --block-fd 3 touch ran
}

blocks() {
	printf -- '--ro-bind\0/\0/\0--bind\0/etc' >"$T/short"
	printf -- '--ro-bind\0/\0/\0--dir\0/tmp' >"$T/open"
	printf -- '--ro-bind\0/\0/\0touch\0ran\0' >"$T/command"
	printf -- '--ro-bind\0/\0/\0--args\0004\0' >"$T/nested"
	printf '%s\0' --ro-bind / / --perms 0700 >"$T/perms"
	printf -- '--ro-bind / /\n' >"$T/lines"
	head -c 100000 /dev/urandom | tr -d '\0' >"$T/noise"
	chmod 644 "$T"/short "$T"/open "$T"/command "$T"/nested "$T"/perms "$T"/lines "$T"/noise
	bad "--args: an operand that is missing" "--bind takes two arguments" \
		"3=$T/short" --args 3 touch ran
	is "$caller: --args: the last string need not end" \
		"$(fd "3=$T/open" --args 3 echo fine)" fine
	bad "--args: a command in it" '--args 3 has words after its options, from "touch"' \
		"3=$T/command" --args 3 touch ran
	bad "--args: nested" "--args not supported in arguments file" \
		"3=$T/nested,4=/dev/null" --args 3 touch ran
	bad "--args: a modifier at its end" "--perms must be followed by *" \
		"3=$T/perms" --args 3 touch ran
	bad "--args: lines" "Unknown option --ro-bind / /?" "3=$T/lines" --args 3 touch ran
	bad "--args: noise" "*" "3=$T/noise" --ro-bind / / --args 3 touch ran
	bad "--args: twice the same" "Can't read --args data: *" "3=$T/open" \
		--args 3 --args 3 touch ran
	rm -f "$T"/short "$T"/open "$T"/command "$T"/nested "$T"/perms "$T"/lines "$T"/noise
}

modifiers() {
	for next in '--bind / /' '--proc /proc' '--ro-bind / /' ''; do
		simply "--perms must be followed by an option that creates a file" \
			--bind / / --perms 0700 $next touch ran
		simply "--size must be followed by --tmpfs" --bind / / --size 4096 $next touch ran
	done
	simply "--noexec must be followed by *" --bind / / --noexec touch ran
	simply "--noexec must be followed by *" --bind / / --noexec --proc /proc touch ran
	simply "--perms given twice for the same action" --perms 0700 --perms 0700 \
		--dir /x touch ran
	simply "--size given twice for the same action" --size 4096 --size 4096 \
		--tmpfs /x touch ran
	for next in '' '--tmpfs /mnt' '--bind / /' '--ro-bind / /'; do
		simply "--overlay-src must be followed by *" --bind / / --overlay-src /usr \
			$next touch ran
	done
	simply "--overlay requires at least one --overlay-src" --bind / / \
		--overlay "$P" "$T" /mnt touch ran
	simply "--tmp-overlay requires at least one --overlay-src" --bind / / \
		--tmp-overlay /mnt touch ran
	simply "--ro-overlay requires at least two --overlay-src" --bind / / \
		--overlay-src /usr --ro-overlay /mnt touch ran
	simply "Can't find source path /no/such: *" --bind / / --overlay-src /no/such \
		--tmp-overlay /mnt touch ran
	simply "Can't find source path /etc/passwd: Not a directory" --bind / / \
		--overlay-src /etc/passwd --tmp-overlay /mnt touch ran
	own mkdir -p up
	simply "Can't make overlay mount on /newroot/mnt: *" --bind / / \
		--overlay-src /usr --overlay up up /mnt touch ran
	own rm -rf up
}

conflicts() {
	while IFS='|' read -r text line; do
		simply "$text" --bind / / $line touch ran
	done <<-'EOT'
		Specifying --as-pid-1 requires --unshare-pid|--as-pid-1
		Specifying --as-pid-1 and --lock-file is not permitted|--unshare-pid --as-pid-1 --lock-file /x
		Specifying --hostname requires --unshare-uts|--hostname x
		--disable-userns requires --unshare-user|--disable-userns
		--userns-block-fd requires --unshare-user|--userns-block-fd 0
		--userns-block-fd requires --info-fd|--unshare-user --userns-block-fd 0
		Specifying --kill-on-exit requires --unshare-pid*|--kill-on-exit
		Specifying --pty requires --unshare-pid*|--pty
		Specifying --json-status-extended requires --json-status-fd|--json-status-extended
		--uid-map and --gid-map require --unshare-user|--uid-map 0:0:1 --gid-map 0:0:1
		--uid-map and --gid-map require each other|--unshare-user --uid-map 0:0:1
		unknown cap: CAP_NONE|--cap-add CAP_NONE
		labeling not supported on this system|--exec-label x
		labeling not supported on this system|--file-label x
		setenv failed: "a=b" is no variable's name|--setenv a=b c
		Can't chdir to /no/such: No such file or directory|--chdir /no/such
		Can't mount mqueue on /newroot/mnt: Operation not permitted|--unshare-user --mqueue /mnt
	EOT
}

paths() {
	own ln -s loop1 loop2
	own ln -s loop2 loop1
	simply "Can't find source path loop1: Too many levels of symbolic links" \
		--bind / / --bind loop1 /mnt touch ran
	for operation in '--bind /etc' --tmpfs --dir '--symlink x' --proc --dev \
		'--chmod 0700' '--ro-bind-data 3' '--file 3' --remount-ro; do
		bad "$operation: a loop of links" "Can't *" 3=/dev/null --bind / / \
			--unshare-pid $operation "$P/loop1/x" touch ran
	done
	bad "--bind: a loop at the end" "Can't *: Too many levels of symbolic links" - \
		--bind / / --bind /etc "$P/loop1" touch ran
	own rm -f loop1 loop2
	name=$(head -c 300 /dev/zero | tr '\0' n)
	long=$(head -c 4096 /dev/zero | tr '\0' /; echo x)
	deep=$(for _ in $(seq 2048); do printf /d; done)
	for path in "/mnt/$name" "$deep"; do
		for operation in '--bind /etc' --tmpfs --dir '--symlink x' --proc --dev \
			'--chmod 0700' '--ro-bind-data 3' '--file 3' --remount-ro; do
			bad "$operation: ${#path} bytes" "Can't *" 3=/dev/null --ro-bind / / \
				--tmpfs /mnt --unshare-pid $operation "$path" touch ran
		done
		simply "Can't find source path *: File name too long" --bind / / \
			--bind "$path" /mnt touch ran
		simply "Can't chdir to *: File name too long" --bind / / --chdir "$path" \
			touch ran
		simply "execvp *: File name too long" --bind / / "$path"
	done
	# Slashes are no names.
	is "$caller: 4,096 slashes" "$(run --ro-bind / / --tmpfs "$long/../mnt" \
		ls /mnt)" ""
	simply "*longer than a host name can be*" --unshare-uts --unshare-user \
		--hostname "$name" --bind / / touch ran
	# Bytes are passed on as they are, and are no second line.
	odd=$(printf 'a\377\376b\033c')
	simply "Can't find source path */a*: No such file or directory" --bind / / \
		--bind "/no/$odd" /mnt touch ran
	is "$caller: names that are no UTF-8" "$(run --ro-bind / / --tmpfs /mnt \
		--dir "/mnt/$odd" --setenv X "$odd" sh -c 'ls /mnt; echo "$X"')" "$odd
$odd"
	case $said in
	*"$(printf '\033')"*) fail "$caller: no escapes in a message" ;;
	*) pass "$caller: no escapes in a message" ;;
	esac
	for word in --bind --ro-bind --dev-bind; do
		simply "Can't find source path /no/such: No such file or directory" --bind / / \
			$word /no/such /mnt touch ran
		is "$caller: $word-try of nothing" "$(run --bind / / $word-try /no/such /mnt \
			echo fine)" fine
	done
	simply "Can't find source path : No such file or directory" --bind / / \
		--bind '' /mnt touch ran
	simply "Can't remount readonly on /mnt: it is not a mount point" --bind / / \
		--remount-ro /mnt touch ran
	simply "Can't chmod 0700 /no/such: No such file or directory" --bind / / \
		--chmod 0700 /no/such touch ran
	simply "Can't make symlink at /etc: *" --ro-bind / / --symlink x /etc touch ran
}

demand_input() {
	options; numbers; kinds; blocks; modifiers; conflicts; paths
}
document_input() {
	documented "one line" "An error is one line on standard error,"
	documented "dangling modifiers" "a modifier such as -perms that nothing follows"
	documented "labels" "Refused where SELinux is not enabled."
}
