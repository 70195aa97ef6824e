# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh disable=SC2154,SC2086,SC2016
# What is mounted, with which flags, and how many; data; the length of lines.

# The options of the mount at PATH, as the words' sandbox has it.
at() { own sed -n "s,^[^ ]* [^ ]* [^ ]* [^ ]* $1 \([^ ]*\) .*,\1,p" "$T/mounts"; }
look() {
	rm -f "$T/mounts"
	run --bind / / "$@" --proc /proc --unshare-pid sh -c \
		'cat /proc/self/mountinfo >"$1"' _ "$T/mounts" 2>&1
}
# In a mount namespace of its own, as root of that: near CMD...
near() {
	if [ "$caller" = root ]; then
		as root unshare -m --propagation private "$@"
	else
		as user unshare -Urm --propagation private "$@"
	fi
}

many() {
	own sh -c '{ printf "%s\0" --bind / / --tmpfs /tmp
		for i in $(seq 4000); do printf "%s\0" --bind /usr "/tmp/$i"; done
		} >"$1/binds"
		for i in $(seq 10000); do printf "%s\0" --setenv "V$i" "$i"; done >"$1/options"' \
		_ "$T"
	# bubblewrap 0.11 takes 20 s for these on a fast machine (#384).
	is "$caller: 4,000 binds" "$(fd "3=$T/binds" --args 3 timeout 5 \
		sh -c 'ls /tmp | wc -l; [ -d /tmp/4000/bin ] && echo there' | words)" "4000 there"
	is "$caller: ... started within seconds" "$(fd "3=$T/binds" --args 3 true;
		as "$caller" "$probe" only "3=$T/binds" timeout 5 bwrap --args 3 true
		echo $?)" 0
	is "$caller: 30,000 words by --args (#703)" "$(as "$caller" "$probe" only \
		"3=$T/options" timeout 5 bwrap --ro-bind / / --args 3 \
		sh -c 'echo $V1 $V10000')" "1 10000"
	is "$caller: 12,000 words" "$(run --ro-bind / / sh -c 'echo $#' _ $(seq 12000))" 12000
	own rm -f "$T/binds" "$T/options"
}

data() {
	own sh -c 'echo first >first; echo second >second'
	# Numbers that are free, so that what is freed is used again: codex#43929.
	is "$caller: one data fd twice" "$(fd "3=$P/first" --ro-bind / / \
		--tmpfs /tmp --ro-bind-data 3 /tmp/a --ro-bind-data 3 /tmp/b \
		--file 3 /tmp/c --bind-data 3 /tmp/d cat /tmp/a /tmp/b /tmp/c /tmp/d |
		words)" "first first first first"
	is "$caller: two of them" "$(fd "3=$P/first,4=$P/second" --ro-bind / / \
		--tmpfs /tmp --ro-bind-data 3 /tmp/a --ro-bind-data 4 /tmp/b \
		--ro-bind-data 3 /tmp/c cat /tmp/a /tmp/b /tmp/c | words)" "first second first"
	is "$caller: none of them is the command's" "$(fd "3=$P/first" --ro-bind / / \
		--tmpfs /mnt --ro-bind-data 3 /mnt/a "$probe" fds)" "0 1 2"
	own rm -f first second
	is "$caller: parents are 0755" "$(fd 3=/dev/null --ro-bind / / \
		--tmpfs /tmp --ro-bind-data 3 /tmp/a/x --tmpfs /tmp/b/x \
		--symlink x /tmp/c/x --bind /usr /tmp/d/x --perms 0700 --dir /tmp/e/x \
		stat -c %a /tmp/a /tmp/b /tmp/c /tmp/d /tmp/e | words)" "755 755 755 755 700"
}

flags() {
	look --tmpfs /tmp/t --noexec --bind /usr /mnt
	like "$caller: tmpfs" "$(at /tmp/t)" "rw,nosuid,nodev*"
	like "$caller: --noexec bind (#349)" "$(at /mnt)" "*noexec*"
	for kind in '--tmpfs' '--bind /usr' '--overlay-src /usr --tmp-overlay'; do
		run $all --tmpfs /tmp --noexec $kind /tmp/x --file 3 /tmp/x/run \
			--chmod 0755 /tmp/x/run true 3</dev/null >/dev/null 2>&1
		case $kind in
		--tmpfs) continue ;;
		esac
		status "$caller: ... nothing runs from ${kind%% *}" 1 run $all \
			--tmpfs /tmp --noexec $kind /tmp/x /tmp/x/bin/true
		like "$caller: ... is told" "$said" "bwrap: execvp /tmp/x/bin/true: Permission denied"
	done
	look --unshare-ipc --mqueue /tmp/q --overlay-src /usr --tmp-overlay /mnt
	[ ! -s "$T/mounts" ] || [ -n "$(at /tmp/q)" ] || look --tmpfs /tmp/t
	like "$caller: mqueue is nosuid,nodev" "$(run --ro-bind / / --tmpfs /tmp \
		--unshare-ipc --mqueue /tmp/q --proc /proc grep ' /tmp/q ' /proc/self/mountinfo)" \
		"*nosuid,nodev*"
	for kind in --tmp-overlay '--overlay up work'; do
		own mkdir -p up work
		like "$caller: ${kind%% *} is nosuid,nodev" "$(run --ro-bind / / \
			--overlay-src /usr $kind /mnt --proc /proc \
			grep ' /mnt ' /proc/self/mountinfo)" "*nosuid,nodev*"
		[ "$caller" = user ] || chmod -R u+rwx up work 2>/dev/null
		own sh -c 'chmod -R u+rwx up work; rm -rf up work'
	done
	is "$caller: a tmp-overlay has a size (#783)" "$(run --ro-bind / / \
		--overlay-src /usr --size 65536 --tmp-overlay /mnt sh -c \
		'head -c 1000000 /dev/urandom >/mnt/big || echo full' 2>/dev/null)" full
	# Flags of the source: as near root, who may set them.
	own mkdir -p src
	said=$(near sh -c 'mount -t tmpfs -o nosymfollow,noexec,noatime none src || exit 98
		ln -s /etc src/link
		bwrap --bind / / --bind src /mnt --proc /proc sh -c "
			grep \" /mnt \" /proc/self/mountinfo; ls /mnt/link/ 2>&1"' 2>&1)
	case $? in
	98) skip "$caller: flags of a source are kept" "$said" ;;
	*)
		like "$caller: flags of a source are kept" "$said" "*noexec*noatime*nosymfollow*"
		like "$caller: ... links too" "$said" "*Too many levels*" ;;
	esac
	# Stacked, and below what may not be read: restricted like all.
	own mkdir -p src/closed/sub
	said=$(near sh -c 'mount -t tmpfs none src
		mkdir -p src/closed/sub && mount -t tmpfs below src/closed/sub
		chmod 0 src/closed
		mount -t tmpfs one src && mkdir src/sub && mount -t tmpfs two src
		bwrap --bind / / --proc /proc --ro-bind src /mnt \
			cat /proc/self/mountinfo' 2>&1 | awk '$5 ~ "^/mnt" && $6 !~ /^ro/')
	is "$caller: covered mounts are read-only" "$said" ""
	own rm -rf src
}

# What the host mounts later, by propagation.
late() {
	own mkdir -p late
	rm -f "$T"/late.*
	said=$(near sh -c 'mount --make-rshared /
		bwrap --ro-bind / / --bind "$2" "$2" --proc /proc sh -c "
			echo >\"\$1.up\"; until [ -e \"\$1.go\" ]; do sleep 0.02; done
			grep -c /late /proc/self/mountinfo; echo x 2>&1 >late/x" _ "$1" &
		until [ -e "$1.up" ]; do sleep 0.02; done
		mount -t tmpfs none late; echo >"$1.go"; wait' _ "$T/late" "$T" 2>&1)
	like "$caller: later mounts do not appear" "$said" "0*Read-only file system*"
	own rm -rf late
}

unreachable() {
	own mkdir -p remote
	for how in 'fuse hung' 'fuse dead' 'autofs -'; do
		# /dev/fuse may be root's, and the owner's namespace must be its.
		said=$(near timeout -k 5 20 "$aid" $how "$P/remote" timeout 10 \
			bwrap --ro-bind / / echo started 2>&1)
		case $?,$said in
		98,*) skip "$caller: beside $how (#541)" "$said" ;;
		*)	is "$caller: beside $how (#541)" "$said" started
			is "$caller: ... and --not-a-security-boundary" "$(near timeout -k 5 20 \
				"$aid" $how "$P/remote" timeout 10 bwrap --not-a-security-boundary \
				--ro-bind / / echo started 2>&1)" started ;;
		esac
	done
	said=$(near timeout -k 5 20 "$aid" fuse dead "$P/remote" timeout 10 \
		bwrap --ro-bind / / --ro-bind "$P/remote" /mnt true 2>&1)
	[ $? = 98 ] || is "$caller: as a source it is told" "$said" \
		"bwrap: Can't find source path $P/remote: Transport endpoint is not connected"
	if [ "$caller" = root ]; then
		# The ordinary user beside root's.
		is "user: beside root's hung one" "$(near timeout -k 5 20 "$aid" fuse \
			hung "$P/remote" timeout 10 setpriv --reuid $user_id \
			--regid $user_id --clear-groups --inh-caps=-all \
			bwrap --ro-bind / / --chdir / echo started 2>&1)" started
	fi
	# What the host has mounted and removed (fence#219).
	said=$(near sh -c 'echo a >a; : >b; mount --bind a b && rm a
		bwrap --ro-bind / / cat b
		exec bwrap --bind / / --tmpfs /mnt --ro-bind b /mnt/b touch ran' 2>&1)
	is "$caller: beside a mount of what was removed, and with it" "$said" \
		"a
bwrap: Can't bind mount /oldroot/b on /newroot/mnt/b: Unable to mount source on destination: No such file or directory"
	own rm -f b
	own mkdir -p closed/dir
	own chmod 0 closed
	is "$caller: below an unreadable directory" "$(run --ro-bind / / --bind / /mnt echo started)" started
	own sh -c 'chmod 755 closed; rm -rf closed remote'
}

# What cannot be, and why.
refusals() {
	bad "a mount point in a read-only tree (#413)" \
		"Can't mkdir /here: Read-only file system (what is not there cannot be made there)" \
		- --ro-bind / / --bind /etc /here touch ran
	bad "below a file" "Can't mkdir*/etc/passwd/*: Not a directory" - \
		--ro-bind / / --bind /etc /etc/passwd/x touch ran
	bad "a directory on a file" "Can't mkdir /etc/passwd: Not a directory" - \
		--ro-bind / / --bind /etc /etc/passwd touch ran
	bad "a file on a directory" "Can't create file at /etc: Is a directory" - \
		--ro-bind / / --bind /etc/passwd /etc touch ran
	bad "an overlay of a tree of mounts (#680)" \
		"Can't make overlay mount on /newroot/mnt: Invalid argument (a layer with mounts below it *" \
		- --unshare-user --ro-bind / / --overlay-src / --tmp-overlay /mnt touch ran
	own mkdir layer
	bad "overlays that overlap (#601)" \
		"Can't make overlay mount on /newroot/mnt: Overlay directories may not overlap" \
		- --bind / / --overlay-src "$P/layer" --overlay-src "$P/layer" \
		--tmp-overlay /mnt touch ran
	own rmdir layer
	# In containers (#505). Nobody is asked to do without: hosts parse this.
	said=$(as "$caller" unshare -Urm sh -c '
		for d in /proc/irq /proc/tty /proc/fs; do
			mount -t tmpfs none $d 2>/dev/null && break
		done; exec bwrap --unshare-user --unshare-pid --ro-bind / / --dev /dev \
		--proc /proc touch ran' 2>&1)
	is "$caller: a procfs that may not be (#505)" "$? $said" \
		"1 bwrap: Can't mount proc on /newroot/proc: Operation not permitted"
	# The errno is that of the kernel's answer (#745).
	is "$caller: lo is up (#745)" "$(run $all --unshare-net "$probe" lo)" up
	is "$caller: ... in a network namespace that has one up" "$(as "$caller" \
		unshare -Urn sh -c 'ip link set lo up 2>/dev/null
		exec bwrap --ro-bind / / --dev /dev --unshare-user --unshare-net "$1" lo' _ "$probe")" up
	# A leak sanitizer needs ptrace(2), which this inner filter refuses.
	said=$(own env ASAN_OPTIONS=detect_leaks=0 "$probe" inner codex bwrap \
		--ro-bind / / --unshare-net touch ran 2>&1)
	is "$caller: ... and what the kernel said" "$? $said" \
		"1 bwrap: loopback: Failed to create NETLINK_ROUTE socket: Operation not permitted"
	said=$(as "$caller" unshare -Ur sh -c '
		echo 0 >/proc/sys/user/max_user_namespaces
		exec bwrap --unshare-user --ro-bind / / touch ran' 2>&1)
	like "$caller: no namespaces (#135)" "$? $said" "1 bwrap: Creating new namespace failed: *"
	ok "$caller: ... nothing ran" gone "$P/ran"
}

# CVE-2019-12439: nothing depends on what there is in /tmp.
tmp() {
	own sh -c 'mkdir -p t; touch t/newroot t/oldroot; ln -s /etc t/.bubblewrap-0
		ln -s /nowhere "t/.bubblewrap-$(id -u)"'
	is "$caller: /tmp full of traps" "$(near sh -c 'mount --bind t /tmp
		cd /; exec bwrap --ro-bind / / echo started')" started
	is "$caller: /tmp read-only" "$(near sh -c 'mount -t tmpfs -o ro none /tmp
		cd /; exec bwrap --ro-bind / / echo started')" started
	is "$caller: no rights to /tmp" "$(near sh -c 'mount -t tmpfs -o mode=0 none /tmp
		cd /; exec bwrap --ro-bind /usr /usr --ro-bind /lib /lib \
		--ro-bind-try /lib64 /lib64 /usr/bin/echo started')" started
	own rm -rf t
	for how in '' '--symlink /etc /tmp' '--symlink /no/such /tmp'; do
		is "$caller: /tmp missing or a link: $how" "$(run --ro-bind /usr /usr \
			--symlink usr/lib /lib --symlink usr/lib64 /lib64 --proc /proc \
			--ro-bind "$work/bin" /b $how --cap-add CAP_SETFCAP --unshare-user \
			/b/bwrap --unshare-user --ro-bind / / /usr/bin/echo started 2>&1)" started
	done
}

misc() {
	own sh -c 'printf "#!/no/such/interpreter\n" >script; chmod 755 script
		sed "s,/lib64/ld-linux-x86-64.so.2,/lib64/ld-linux-x86-64.so.9," \
			/bin/true >program; chmod 755 program'
	for what in script program; do
		cmp -s /bin/true "$P/$what" && continue
		bad "a missing loader (#100): $what" \
			"execvp $P/$what: No such file or directory (what is missing is its interpreter or loader)" \
			- --ro-bind / / "$P/$what"
	done
	bad "a missing command" "execvp /no/such: No such file or directory" - \
		--ro-bind / / /no/such
	bad "... looked for" "execvp no-such: No such file or directory" - \
		--ro-bind / / --setenv PATH /bin:/usr/bin no-such
	own rm -f script program
	is "$caller: a source that was renamed while open" "$(own "$probe" only - sh -c '
		mkdir x; echo x >x/f; cd x && mv ../x ../y
		bwrap --ro-bind / / --bind . /mnt cat /mnt/f' 2>&1)" x
	own rm -rf y
	is "$caller: /dev/shm (#329)" "$(run $all stat -c %a /dev/shm)" 755
	is "$caller: ... or else" "$(run $all --perms 1777 --tmpfs /dev/shm \
		stat -c %a /dev/shm)" 1777
}

demand_mounts() {
	many; data; flags; late; unreachable; refusals; tmp; misc
}
document_mounts() {
	documented "read-only places" "A DEST that cannot be made, below a file or in a read-only place, is told with the reason."
	documented "later mounts" "What the host mounts later does not appear inside."
	documented "unreachable mounts" "A mount below a bind that cannot be reached, or would first have to be mounted by an automounter, delays and fails nothing."
	documented "overlays of mounts" "A layer must have no mounts below it"
	documented "a procfs in containers" "Where the kernel refuses a procfs"
	documented "/dev/shm" "an empty shm of mode 0755"
	documented "no filter for the network (#504)" "The network is there or it is not; nothing here filters it."
	documented "nothing is made of a source (#768)" "A SRC that is missing is not made, and one that was removed below a mount of its own is refused by the kernel."
	documented "no Landlock (#519)" "Landlock is"
	documented "no cgroups (#299)" "Limits for a sandbox as a whole are a matter of cgroups"
	documented "no namespaces, no root to mount on" "What the kernel or the host does not allow is an error and never done by halves"
	documented "no limit of words" "There is no limit but the kernel's"
	documented "files that are replaced" "A file that is bound alone stays the same file"
}
