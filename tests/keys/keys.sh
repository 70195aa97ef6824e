#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# --as key:NAME and user:NAME: tenants with ids of their own, and what of one
# another they can read, signal and see. Root alone can give a host ranges of
# subuid(5) for the time of a test.
. "${srcdir:?}"/tests/lib.sh
need_sandbox
[ "$(id -u)" = 0 ] || { echo "1..0 # SKIP needs root, for an /etc of its own"; exit 0; }
[ -e /etc/oc-nsrun ] && { echo "1..0 # SKIP this host has an /etc/oc-nsrun"; exit 0; }
cp -a /etc "$work"/etc && mkdir "$work"/var || exit 99
echo "tester:x:$user_id:$user_id::$(home user):/bin/sh" >>"$work"/etc/passwd
printf 'ten1:x:60011:60011::/:/bin/sh\nten2:x:60012:60012::/:/bin/sh\n' >>"$work"/etc/passwd
ranges() { printf 'nobody:50000:10\ntester:%s\nroot:%s\n' "$1" "$2" | tee "$work"/etc/subuid >"$work"/etc/subgid; }
ranges 100000:65536 200000:65536
why=$(unshare -m sh -c 'mount --bind "$1/etc" /etc && mount --bind "$1/var" /var/lib' _ "$work" 2>&1) || {
	echo "1..0 # SKIP no mounts here: $why"
	exit 0
}
# at CALLER CMD...: as(), on a host with those /etc and /var/lib
at() {
	at_caller=$1; shift
	set -- env -i PATH="${path-$PATH}" HOME="$(home "$at_caller")" USER=tester LC_ALL=$LC_ALL TERM=$TERM "$@"
	[ "$at_caller" = user ] && set -- setpriv --reuid $user_id --regid $user_id --groups $user_id,60001 --inh-caps=-all "$@"
	unshare -m sh -c 'mount --bind "$1/etc" /etc && mount --bind "$1/var" /var/lib || exit 99
		cd "$2" || exit 99; shift 2; exec "$@"' sh "$work" "$(project "$at_caller")" "$@"
}

# Ordinary callers need the set-uid programs of Debian's uidmap.
with_maps=$callers
command -v newuidmap >/dev/null && command -v newgidmap >/dev/null || {
	skip "user: keys" "no newuidmap"; with_maps=root
}
for caller in $with_maps; do
	p=$(project "$caller") d=$work/$caller
	case $caller in
	root) registry=$work/var/oc-nsrun/keys base=232768 ;;
	user) registry=$(home user)/.local/state/oc-nsrun/keys base=132768 ;;
	esac
	run() { at "$caller" "$oc" run --stdin null "$@"; }
	key() { key=$1; shift; run --as key:$key "$@"; }

	# Ids.
	is "$caller: explain records none" "$(at "$caller" "$oc" explain --as key:a -- true | grep -o 'uid [0-9]* of key a'
		ls "$registry" 2>/dev/null)" "uid $base of key a"
	is "$caller: a key's ids" "$(key a -- sh -c 'id -u; id -g; id -G' | tr '\n' ' ')" "$base $base $base "
	is "$caller: another's" "$(key b.c_d-1 -- id -u)" $((base + 1))
	is "$caller: ... stay" "$(key a -- id -u; key b.c_d-1 -- id -u)" "$base
$((base + 1))"
	is "$caller: as recorded" "$(cat "$registry")" "a $base $base
b.c_d-1 $((base + 1)) $((base + 1))"
	is "$caller: ... for nobody else" "$(stat -c '%a %U' "$registry" | sed 's/UNKNOWN/user/')" "600 $(stat -c %U "$d"/home | sed 's/UNKNOWN/user/')"
	printf %s "$(cat "$registry")" >"$work"/open && cat "$work"/open >"$registry"
	is "$caller: ... and behind a line that was left open" "$(key c -- id -u; key a -- id -u)" "$((base + 2))
$base"
	for i in $(seq 12); do key many-$i -- true & done; wait
	is "$caller: twelve at once, each its own" "$(sed -n '/^many/s/.* //p' "$registry" | sort -u | wc -l)" 12
	like "$caller: the record names it" "$(key a --status-fd 1 -- true)" '*"host_uid": '$base'*"key": "a"*'
	like "$caller: ... and explain --json" "$(at "$caller" "$oc" explain --json --as key:a -- true)" '*"key": "a"*'
	is "$caller: no capability, one uid in the map" "$(key a -- sh -c 'grep -c "^Cap.*:[[:space:]]*0*$" /proc/self/status; wc -l </proc/self/uid_map')" "5
1"
	is "$caller: home and tmp are its own" "$(key a -- sh -c 'echo x >~/x && echo x >/tmp/x && cat ~/x /tmp/x')" "x
x"
	status "$caller: the status" 7 key a -- sh -c 'exit 7'
	status "$caller: the deadline" 124 key a --timeout 500ms -- sleep 321.5
	is "$caller: ... ends it" "$(running 'sleep 321.5')" ""
	is "$caller: input and output" "$(echo in | at "$caller" "$oc" run --as key:a -- sh -c 'cat; echo err >&2; echo out >/dev/stdout' 2>&1)" "in
err
out"
	is "$caller: sandboxes inside" "$(key a --nesting allow -- unshare -Ur id -u)" 0
	is "$caller: sockets" "$(key a --network isolated -- sh -c 'grep -c lo: /proc/net/dev')" 1

	# What one tenant has is not the other's: each has a directory and a file.
	# An ordinary caller has to reach what it grants.
	[ "$caller" = root ] && mode=700 grant=--project || mode=755 grant=--ro
	mkdir "$d"/tenants; chmod 755 "$d"
	tenants="a b.c_d-1 many-1"
	# Users of the host's are tenants for root.
	[ "$caller" = user ] || tenants="$tenants ten1 ten2"
	tenant() {
		tenant=$1; shift
		case $tenant in ten*) run --as user:$tenant "$@" ;; *) key $tenant "$@" ;; esac
	}
	for k in $tenants; do
		mkdir "$d"/tenants/$k; echo "secret of $k" >"$d"/tenants/$k/secret; echo "{}" >"$d"/tenants/$k.json
		case $k in ten*) id=$(sed -n "s/^$k:x:\([0-9]*\):.*/\1/p" "$work"/etc/passwd) ;;
		*) id=$(sed -n "s/^$k \([0-9]*\) .*/\1/p" "$registry") ;; esac
		chown -R "$id:$id" "$d"/tenants/$k "$d"/tenants/$k.json; chmod $mode "$d"/tenants/$k; chmod 600 "$d"/tenants/$k/secret "$d"/tenants/$k.json
	done
	cat >"$work"/forms <<'EOF'
# Every way to say a file: $1 is the directory of all, $2 whose.
f=$1/$2/secret
ln -s "$f" /tmp/link; ln -s "$1" /tmp/dir; ln -s / /tmp/root
up=$(pwd | sed 's|/[^/]*|../|g')
for path in "$f" "$1/$2.json" "../$2/secret" "../$2.json" "$up$f" "/$f" "$1/./$2/../$2/secret" "/tmp/link" \
	"/tmp/dir/$2/secret" "/tmp/root/$f" "/proc/self/root$f" "/proc/self/cwd/../$2/secret" "/proc/self/cwd/$up$f" \
	"/proc/1/root$f" "/proc/1/cwd$f" "/proc/$PPID/root$f" "/proc/thread-self/root$f" "/proc/self/fd/0/../$2/secret" \
	"/proc/self/task/$$/root$f" "/dev/fd/0/$f" "/tmp/../$f"; do
	cat "$path" 2>/dev/null | grep "secret of $2\|{}" && echo "read: $path"
	[ "$4" ] || { ls "${path%/*}" 2>/dev/null | grep -x secret && echo "listed: $path"; }
	(echo x >>"$path") 2>/dev/null	# in /tmp it makes one
done
for n in $(ls /proc | grep '^[0-9]'); do cat /proc/$n/root$f /proc/$n/cwd/../$2/secret 2>/dev/null && echo "read: /proc/$n"; done
cat /proc/keys 2>/dev/null
[ "$4" ] || { find / -name secret -size +0 2>/dev/null | grep "$2/" && echo found; }
exec 3<"$1" 2>/dev/null && cat "/proc/self/fd/3/$2/secret" 2>/dev/null && echo "read: by descriptor"
echo "$(cat "$3" 2>/dev/null)"
EOF
	for x in $tenants; do
		mine=$d/tenants/$x
		for y in $tenants; do
			[ $x != $y ] || continue
			is "$caller: $x reads nothing of $y, its own granted" "$(tenant $x $grant "$mine" --cwd "$mine" -- \
				sh -c "$(cat "$work"/forms)" _ "$d"/tenants $y "$mine"/secret "" 2>/dev/null)" "secret of $x"
			# Of root's tree only root's files are mapped, so not even its own;
			# in an ordinary caller's directories have to be open.
			[ $caller = root ] && want= open= || want="secret of $x" open=open
			got=$(tenant $x --ro "$d"/tenants -- sh -c "$(cat "$work"/forms)" _ "$d"/tenants $y "$mine"/secret "$open" 2>/dev/null)
			is "$caller: $x reads nothing of $y, all granted" "$got" "$want"
		done
	done
	is "$caller: what is there is as before" "$(cat "$d"/tenants/*/secret "$d"/tenants/*.json | tr '\n' ' ')" \
		"$(for k in $tenants; do printf 'secret of %s ' $k; done; for k in $tenants; do printf '{} '; done)"

	# Nor do they see or signal one another.
	key a -- sh -c 'sleep 432.5' & waits=$!
	for _ in $(seq 100); do victim=$(running 'sleep 432.5'); [ "$victim" ] && break; sleep 0.1; done
	is "$caller: on the host, the uid is the key's" "$(awk '/^Uid:/{print $2}' /proc/"$victim"/status)" $base
	is "$caller: another key sees, signals and traces nothing of it" "$(key b.c_d-1 -- sh -c '
		kill -9 $1 2>/dev/null && echo killed; kill -9 -1 2>/dev/null; ls -d /proc/$1 2>/dev/null; ls /proc/*/exe | grep -c sleep' _ "$victim" 2>/dev/null)" 0
	ok "$caller: it lives" kill -0 "$victim"
	# The kernel would say so without any namespace.
	them="setpriv --reuid $((base + 1)) --regid $((base + 1)) --clear-groups --inh-caps=-all"
	fails "$caller: not without a sandbox either: signal" $them sh -c 'kill -9 $1' _ "$victim"
	for f in environ mem maps fd/0 root/etc/passwd cwd/. root/. fd/.; do
		fails "$caller: ... /proc/PID/$f" $them sh -c 'case $2 in */.) ls "/proc/$1/$2" ;; *) head -c 1 "/proc/$1/$2" ;; esac' _ "$victim" $f
	done
	# The caller itself has no right of the key's, and ends it all the same.
	kill -9 $waits $(running "$oc run --stdin null --as key:a") 2>/dev/null; wait $waits 2>/dev/null
	eventually "$caller: a kill of oc-nsrun ends it" sh -c '! kill -0 $1 2>/dev/null' _ "$victim"
	rm -rf "$d"/tenants

	# Bad input.
	for name in "" A a/b ../a .a "a b" 'a*' "a
b" "$(printf %065d 0)" -a; do
		before=$(cat "$registry")
		status "$caller: key \"$(printf %.9s "$name" | tr '\n' '?')\"" 125 run --as "key:$name" -- true
		is "$caller: ... and no new line" "$(cat "$registry")" "$before"
	done
	cp -p "$registry" "$work"/saved
	# damaged WHAT PATTERN: the registry has been changed
	damaged() {
		status "$caller: $1" 125 key a -- true
		like "$caller: ... told" "$said" "$2"
		rm -f "$registry"; cp -p "$work"/saved "$registry"
	}
	echo "broken" >>"$registry"; damaged "a line that is none" "*keys:16:1: is not NAME UID GID*"
	echo "x 0 5" >>"$registry"; damaged "a line with root's id" "*is not NAME UID GID*"
	echo "x $base 5" >>"$registry"; damaged "the same uid twice" "*has another key's ids*"
	echo "a $((base + 99)) 5" >>"$registry"; damaged "the same key twice" "*is there twice*"
	chmod 666 "$registry"; damaged "a registry that others write" "*can be written by others*"
	chown 60002 "$registry"; damaged "a registry of somebody else's" "oc-nsrun: identity *keys: *"
	mv "$registry" "$registry".x; ln -s keys.x "$registry"; damaged "a registry that is a link" "*symbolic links*"
	rm -f "$registry".x
	ranges 100000:5 200000:5
	damaged "ranges that are others now" "*key -> a: has ids that /etc/subuid or /etc/subgid no longer give*"
	ranges 100000:65536 200000:65536
	echo >"$work"/etc/subuid; damaged "no range" "*/etc/subuid: gives * no range: usermod --add-subuids*"
	ranges 100000:x 200000:-1; damaged "a range that is none" "*gives * no range*"
	ranges $((base - 1)):2 $((base - 1)):2
	rm "$registry"
	status "$caller: a range of one key" 0 key one -- true
	status "$caller: ... is used up" 125 key two -- true
	like "$caller: ... told" "$said" "*key -> two: gets no ids:*used up*"
	rm "$registry"; cp -p "$work"/saved "$registry"; ranges 100000:65536 200000:65536
	status "$caller: no such user" 125 run --as user:nosuchuser -- true
	status "$caller: root by name" 125 run --as user:root -- true
	status "$caller: a user without name" 125 run --as user: -- true
done

# Of root alone.
run() { at root "$oc" run --stdin null "$@"; }
is "root: a user of the host's" "$(run --as user:tester -- sh -c 'id -u; id -g; id -G' | tr '\n' ' ')" "$user_id $user_id $user_id "
p=$(project root); rm -rf "$p"; mkdir "$p"; echo r >"$p"/f; chmod 600 "$p"/f
is "root: a key writes root's project, as root on the host" "$(run --as key:a --project . -- sh -c 'cat f; echo n >new; id -u'
	stat -c %u:%g "$p"/new)" "r
232768
0:0"
mkdir "$work"/theirs; chown 4321:8765 "$work"/theirs
is "root: ... another owner's, as that" "$(run --as key:a --project "$work"/theirs -- sh -c 'echo n >new; stat -c %u new'
	stat -c %u:%g "$work"/theirs/new)" "232768
4321:8765"
is "root: --temp host is the key's" "$(run --as key:a --temp host -- sh -c 'echo x >$TMPDIR/x; stat -c %u $TMPDIR/x')" 232768
status "root: no set-ID file of root's" 1 run --as key:a --project . -- chmod 4755 new

# Of others.
if [ "$with_maps" != root ]; then
	run() { at user "$oc" run --stdin null "$@"; }
	p=$(project user)
	is "user: its own name" "$(run --as user:tester -- id -u)" $user_id
	status "user: another's name" 125 run --as user:nobody -- true
	like "user: ... told" "$said" "*only root can become somebody else"
	status "user: a project that the key cannot write" 125 run --as key:a --project . -- true
	like "user: ... told" "$said" "*$p: is not writable for the key: setfacl -m u:132768:rwx, or grant it with --ro"
	chmod 777 "$p"; echo s >"$p"/closed; echo o >"$p"/open; chown $user_id "$p"/closed "$p"/open; chmod 600 "$p"/closed
	is "user: one that it can" "$(run --as key:a --project . -- sh -c 'cat open; cat closed 2>/dev/null; echo n >new'; stat -c %u "$p"/new)" "o
132768"
	chown $user_id:60001 "$p"/open; chmod 640 "$p"/open
	is "user: no group of the caller's" "$(run --as key:a --project . -- cat open 2>/dev/null)" ""
	chmod 755 "$p"
	is "user: read-only" "$(run --as key:a --ro "$p" -- cat "$p"/new)" n
	status "user: --temp host" 125 run --as key:a --temp host -- true
	like "user: ... told" "$said" "*--temp host, --home private or --home-keep is only for root"
	status "user: ... explain, too" 125 at user "$oc" explain --as key:a --temp host -- true
	mkdir "$work"/bin; for f in sh true env unshare mount; do ln -s "$(command -v $f)" "$work"/bin/; done
	path=$work/bin; status "user: without newuidmap" 125 run --as key:a -- true
	like "user: ... told" "$said" "*newuidmap*No such file*"
	unset path
fi
done_testing
