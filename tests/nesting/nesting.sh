#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# --nesting allow: sandboxes inside the sandbox, and what still holds then.
. "${srcdir:?}"/tests/lib.sh
need_sandbox
grep -q __asan_init "$oc" && { echo "1..0 # SKIP AddressSanitizer does not fit a command's limits"; exit 0; }
for program in perl python3; do
	command -v $program >/dev/null || { echo "1..0 # SKIP the attacks need $program"; exit 0; }
done
mkdir "$work"/bin || exit 99
cp "$top_builddir"/helper/oc-nsrun "$top_builddir"/helper/oc-bwrap "$work"/bin/ || exit 99
nsrun=$work/bin/oc-nsrun ocbwrap=$work/bin/oc-bwrap
debian=$(command -v bwrap) || debian=
uid=$user_id; [ "$(id -u)" = 0 ] || uid=$(id -u)

for caller in $callers; do
	p=$(project "$caller") h=$(home "$caller")
	# Of root's own project: see root_project below.
	[ "$caller" = user ] || chown $user_id:$user_id "$p"
	# run [OPTION...] -- CMD: without --nesting
	run() { as "$caller" "$oc" run --stdin null --project "$p" --ro "$work"/bin "$@"; }
	nest() { run --nesting allow "$@"; }
	all="--ro-bind / / --dev /dev --proc /proc --unshare-all"
	seen='id -u; id -ru; hostname; [ "$(ls /proc | grep -c "^[0-9]")" -lt 9 ] && echo few; grep -c : /proc/net/dev'

	for inner in "$ocbwrap" $debian; do
		name=${inner##*/}
		for network in denied isolated; do
			is "$caller: $name inside, $network" "$(nest --network $network -- "$inner" $all \
				--uid 7 --hostname inner sh -c "$seen" 2>&1 | tr '\n' ' ')" "7 7 inner few 1 "
		done
		is "$caller: $name writes the project" "$(nest -- "$inner" $all --bind "$p" "$p" --chdir "$p" \
			sh -c 'echo new >made; cat made' 2>&1; rm -f "$p"/made)" new
		is "$caller: ... and no more than it was given" "$(nest -- "$inner" $all --chdir "$p" \
			sh -c '(echo new >made) 2>/dev/null || echo refused')" refused
		is "$caller: $name with a tmpfs, a device, a message queue" "$(nest -- "$inner" $all --tmpfs /tmp \
			--dev-bind /dev/null /tmp/null --mqueue /dev/mqueue sh -c 'echo x >/tmp/null; ls /tmp' 2>&1)" null
		status "$caller: $name, the status" 7 nest -- "$inner" $all sh -c 'exit 7'
		is "$caller: $name in $name in $name" "$(nest -- "$inner" $all "$inner" $all "$inner" $all id -u 2>&1)" $uid
	done
	[ "$debian" ] || skip "$caller: Debian's bwrap" "no bwrap"
	is "$caller: oc-nsrun inside" "$(nest -- sh -c 'mkdir sub; cd sub && "$@"; cd ..; rmdir sub' _ \
		"$nsrun" run --project . -- sh -c 'id -u; pwd; touch x; rm x; grep Seccomp_filters /proc/self/status' 2>&1 |
		tr -s '\n\t' '  ')" "$uid $p/sub Seccomp_filters: 2 "
	like "$caller: ... not on what has masks" "$(nest -- "$nsrun" run --project . -- true 2>&1)" \
		"oc-nsrun: project $p: *.git (mount)*grant a directory below*"
	is "$caller: oc-nsrun inside, without a project" "$(nest -- "$nsrun" run -- id -u 2>&1)" $uid
	is "$caller: ... which itself allows it" "$(nest -- "$nsrun" run --nesting allow --ro "$work"/bin -- \
		"$ocbwrap" $all id -u 2>&1)" $uid

	# Without the option.
	like "$caller: refused: oc-bwrap names the option" "$(run -- "$ocbwrap" $all true 2>&1; echo $?)" \
		"bwrap: *inside oc-nsrun*--nesting allow*
1"
	like "$caller: refused: oc-nsrun names the option" "$(run -- "$nsrun" run -- true 2>&1; echo $?)" \
		"oc-nsrun: namespace*
hint: *inside oc-nsrun*--nesting allow
125"
	like "$caller: refused: doctor does" "$(run -- "$nsrun" doctor 2>&1)" "*inside oc-nsrun*--nesting allow*"
	named="oc-nsrun: namespace the command: was refused namespaces *--nesting allow*"
	if [ "$debian" ]; then
		like "$caller: refused: Debian's bwrap, and we name the option" "$(run --status-fd 3 -- bwrap $all true 2>&1 3>"$work"/status; echo $?)" \
			"bwrap: *
$named
1"
		like "$caller: ... and the record" "$(cat "$work"/status)" '*"exited"*"status": 1,*"hint": "--nesting allow"*'
	fi
	like "$caller: refused: unshare" "$(run -- unshare -Ur true 2>&1)" "unshare: *
$named"
	unlike "$caller: no such word when all went well" "$(run --status-fd 1 -- sh -c 'unshare -Ur true; true' 2>&1)" "*--nesting*"
	unlike "$caller: nor of what is no complaint" "$(run --status-fd 1 -- sh -c 'echo a new namespace >&2; exit 1' 2>&1)" "*--nesting*"
	unlike "$caller: nor where it is allowed" "$(nest --status-fd 1 -- sh -c 'echo Creating new namespace failed >&2; exit 1' 2>&1)" "*--nesting*"
	for call in U m n i u C p; do
		fails "$caller: refused: unshare -$call" run -- unshare -$call true
	done

	# Said, and bounded.
	like "$caller: explain says it" "$(as "$caller" "$oc" explain --project "$p" --nesting allow -- true)" \
		"*filter nesting-1 denied*nesting allowed*"
	like "$caller: ... and in JSON" "$(as "$caller" "$oc" explain --json --project "$p" --nesting allow -- true)" \
		'*"nesting": true*'
	unlike "$caller: ... and not without" "$(as "$caller" "$oc" explain --json --project "$p" -- true)" '*nesting*'
	nest --status-fd 3 -- true 3>"$work"/status
	like "$caller: the status says it" "$(cat "$work"/status)" '*"started"*"nesting": true*"unenforced": ?"tmpfs", "ipc"?*'
	is "$caller: how many namespaces, of all together" "$(nest -- unshare -Ur sh -c '
		echo 1000 >/proc/sys/user/max_uts_namespaces || exit
		python3 -c "
import os
held = []
try:
    for i in range(300):
        os.unshare(0x04000000) if hasattr(os, \"unshare\") else __import__(\"ctypes\").CDLL(None).unshare(0x04000000) and exit(print(i < 260))
        held.append(os.open(\"/proc/self/ns/uts\", 0))
    print(\"more\")
except OSError as e:
    print(i < 260)
"' 2>&1)" True

	# Bad input.
	for value in deny none yes ""; do
		status "$caller: --nesting \"$value\"" 125 run --nesting "$value" -- true
		like "$caller: ... says what is wrong" "$said" "*nesting*"
	done
	for profile in repository-hook document-parser static-analyzer git-worktree; do
		status "$caller: not with profile $profile" 125 run --profile $profile --nesting allow -- git status
		like "$caller: ... says so" "$said" "oc-nsrun: option --nesting -> allow: is not permitted by the profile"
	done
	status "$caller: quality-gate" 0 run --profile quality-gate --nesting allow -- unshare -Ur true

	# What inner root cannot undo.
	inner() { nest --mask a/b/secret --mask top --mask 'a/glob-*' "$@"; }
	mkdir -p "$p"/a/b "$p"/a/glob-d "$p"/.claude; echo s >"$p"/top; echo s >"$p"/.claude/s
	echo s >"$p"/a/glob-d/s; echo f >"$p"/a/f; chown -R "$(stat -c %u:%g "$p")" "$p"
	before=$(cd "$p" && find . -printf '%p %y %m %s\n' | sort)
	cat >"$p"/attack <<'EOF'
# In namespaces of its own, as their uid 0.
try() { "$@" 2>/dev/null && echo "done: $*"; }
# mv would copy.
rn() { perl -e 'exit !rename $ARGV[0], $ARGV[1]' "$@"; }
for f in a/b/secret top .openclaudia .git; do
	try umount "$f"; try umount -l "$f"; try rm -f "$f"; try rn "$f" moved; try mkdir "$f"
	try sh -c "echo x >$f"; try mount -o remount,bind,rw "$f"; try mount --move "$f" a/f
	try ln "$f" linked
done
try umount .claude; try mount -o remount,bind,rw .claude; try sh -c 'echo x >>.claude/s'; try rm .claude/s
try rn .claude moved
for d in a a/b; do
	try rn "$d" moved; try rmdir "$d"; try umount "$d"; try umount -l "$d"; try mount --move "$d" .claude
done
try cat a/glob-d/s; try umount a/glob-d
try mount -o remount,bind,rw /usr; try touch /usr/x; try mount -o remount,rw /; try touch /x
mkdir d 2>/dev/null
# Bare, without what is mounted on it, in every way that there is one.
try mount --bind . d && { try umount d; }
try mount -t overlay overlay -o "lowerdir=$PWD,upperdir=$PWD/d,workdir=$PWD/d" d
try mount -t overlay overlay -o "lowerdir=$PWD:/usr,userxattr" d && { cat d/a/b/secret d/top d/a/glob-d/s; umount d; } 2>/dev/null
try mount -t overlay overlay -o "lowerdir=$PWD/a:/usr,userxattr" d && { cat d/b/secret d/glob-d/s; umount d; } 2>/dev/null
try umount -l "$PWD"; try umount -l /
# By a descriptor of before, in a clone that is mounted nowhere, and entered.
try python3 - <<'END'
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
here = os.open(".", os.O_PATH)
libc.unshare(0x10020000)
tree = libc.syscall(428, -100, os.getcwd().encode(), 0x8001)	# open_tree, a clone
bare = libc.syscall(428, -100, os.getcwd().encode(), 1)
done = [fd for fd in (bare, libc.syscall(428, -100, b".", 0x8003)) if fd >= 0]
for fd in (here, tree):
    for pair in (("a", "z"), ("a/b", "a/c"), ("a/b/secret", "s"), (".git", "g"), ("top", "t"), ("a/glob-d", "a/g")):
        try:
            os.rename(*pair, src_dir_fd=fd, dst_dir_fd=fd)
            done.append(pair)
        except OSError:
            pass
sys.exit(print(done) if done else 1)
END
mount --rbind . d 2>/dev/null && for f in d/a/b/secret d/top d/.claude d/a/b d/a; do
	try umount "$f"; try rn "$f" d/moved; try sh -c "echo x >$f"
done
try mount -o remount,bind,rw d/.claude; try mount -o remount,bind,rw d/top
umount -l d 2>/dev/null; try sh -c 'mv a/b a/c && echo x >a/b/secret'
rmdir d
EOF
	is "$caller: inner root undoes no mask" "$(inner -- unshare -Urm sh attack 2>&1)" ""
	rm "$p"/attack
	cat >"$p"/attack <<'EOF'
# A root of its own, and the old one gone, and with it all that was out of reach.
cd "$1" || exit 99
try() { "$@" 2>&- && echo "done: $*"; }
rn() { perl -e 'exit !rename $ARGV[0], $ARGV[1]' "$@"; }
grep -c oldroot /proc/self/mountinfo
try rn a z; try rn a/b a/c; try rn a/b z; try rn a/glob-d a/c; try mkdir .git; try mkdir a/b/secret
try rm top; try rn .claude z; try sh -c 'echo s >a/b/secret'
echo in >a/b/made; rn a/b/made a/b/moved; rm a/b/moved
EOF
	for inner in "$ocbwrap" $debian; do
		is "$caller: ${inner##*/}: nor from a root of its own" "$(inner -- "$inner" --ro-bind / / --bind "$p" "$p" --proc /proc --dev /dev \
			--unshare-all --cap-add ALL sh "$p"/attack "$p" 2>&1)" 0
		is "$caller: ... of which that is all" "$(inner -- "$inner" --ro-bind /usr /usr --symlink usr/bin /bin \
			--symlink usr/lib /lib --symlink usr/lib64 /lib64 --bind "$p" "$p" --proc /proc --dev /dev \
			--unshare-all --cap-add ALL sh "$p"/attack "$p" 2>&1)" 0
	done
	rm "$p"/attack
	is "$caller: the tree is as before" "$(cd "$p" && find . -printf '%p %y %m %s\n' | sort)" "$before"
	is "$caller: what is hidden is, inside" "$(inner -- "$ocbwrap" $all --chdir "$p" \
		sh -c 'cat top a/b/secret a/glob-d/s 2>/dev/null; ls a/glob-d; cat .claude/s')" s
	rm -rf "$p"/a "$p"/.claude "$p"/top

	# And of the host.
	as "$caller" sleep 1234.$$ >/dev/null 2>&1 & bystander=$!
	there() { [ "$(running "sleep 1234.$$ ")" ]; }
	eventually "$caller: a bystander" there
	nest -- "$ocbwrap" $all sh -c 'kill -9 -1' 2>/dev/null
	# The process itself: $! is the shell that waits for it.
	ok "$caller: no process of the host's" kill -9 $(running "sleep 1234.$$ ")
	wait $bystander 2>/dev/null
	is "$caller: sysctls of the host" "$(nest -- unshare -Urmpf --mount-proc sh -c 'for f in kernel/core_pattern kernel/hostname \
		vm/drop_caches fs/mount-max kernel/sysrq; do (echo 1 >/proc/sys/$f) 2>/dev/null && echo $f; done; cat /proc/sys/kernel/hostname')" sandbox
	fails "$caller: no device" nest -- unshare -Ur mknod null c 1 3
	fails "$caller: no file system of a device's" nest -- unshare -Urm mount -t ext4 /dev/null /tmp
	fails "$caller: no netfilter" nest --network isolated -- unshare -Urn python3 -c 'import socket
s = socket.socket(); s.setsockopt(0, 64, b"x" * 40)'
	fails "$caller: no new privileges" nest -- "$ocbwrap" $all sh -c 'grep -q "NoNewPrivs:.*0" /proc/self/status'
	is "$caller: a kill of oc-nsrun ends all of it" "$(as "$caller" timeout -s KILL 2 "$oc" run --nesting allow --ro "$work"/bin -- \
		"$ocbwrap" $all sleep 1234.25 2>&1 | grep -v Killed; sleep 0.5; running 'sleep 1234.25')" ""
done

if [ "$(id -u)" = 0 ]; then
	p=$(project root)
	chown 0:0 "$p"
	nest() { as root "$oc" run --stdin null --project "$p" --nesting allow "$@"; }
	status "root kept: refused" 125 nest --as keep -- true
	like "... says why" "$said" "*--nesting -> allow: needs a host uid other than 0*"
	is "root's project: another uid" "$(nest -- unshare -Ur id -u)" 0
	cat >"$p"/attack <<'EOF'
# Files that belong to root on the host.
cp /bin/true f
try() { "$@" 2>/dev/null && echo "done: $*"; }
try chmod 4755 f; try chmod 2755 f; try python3 -c 'import os, struct
os.setxattr("f", "security.capability", struct.pack("<5I", 0x02000001, 128, 0, 0, 0))'
try python3 -c 'import os, struct
os.setxattr("f", "security.capability", struct.pack("<6I", 0x03000001, 128, 0, 0, 0, 0))'
try setfattr -n user.x -v 1 f; try mknod d c 1 3
mkdir u w m; mount -t overlay overlay -o lowerdir=/usr/bin,upperdir=u,workdir=w,userxattr m 2>/dev/null &&
	for f in m/su m/passwd m/ping m/chage m/mount; do touch "$f" 2>/dev/null; done
try find . -xdev -perm /7000 -type f
EOF
	nest -- unshare -Urm sh attack >"$work"/log 2>&1
	is "root's project: no set-ID file, no capabilities" "$(cat "$work"/log
		find "$p" -perm /6000; getcap -r "$p" 2>/dev/null)" "done: find . -xdev -perm /7000 -type f"
	is "... owned by root" "$(stat -c %u "$p"/f)" 0
	if [ "$debian" ]; then
		is "root's project: Debian's bwrap" "$(nest -- bwrap --ro-bind / / --unshare-all --proc /proc id -u 2>&1)" 65530
	else
		skip "root's project: Debian's bwrap" "no bwrap"
	fi
	cp "$ocbwrap" "$p"/oc-bwrap
	like "root's project: oc-bwrap says why it cannot" "$(nest -- ./oc-bwrap --ro-bind / / true 2>&1)" \
		"bwrap: *filter*root*"
fi
done_testing
