#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The command lines of nsrun-session(7) for those who share a host, with a
# stand-in for a client that writes all over its home.
. "${srcdir:?}"/tests/lib.sh
need_sandbox
"$oc" run --help | grep -q -e --home || { echo "1..0 # SKIP this one has no --home"; exit 0; }

# The commands of a subsection, one on a line, as a shell would read them.
commands() {
	sed -n "/^\.Ss $1/,/^\.Ss/p" "$srcdir"/man/nsrun-session.7 | sed -n '/^\.Bd/,/^\.Ed/{/^\./d;p;}' |
		sed 's/\\-/-/g; s/\\e$/\\/' | sed -e ':a' -e '/\\$/N; s/ *\\\n */ /; ta' |
		sed "s|~|$h|g; s|/srv|$srv|g; s|^oc-nsrun|$oc|; s| client\$| sh client|
			s|--cgroup require --limit memory=2G||"
}
# What agents do at home: in place, by a file beside it, with a lock, anew.
cat >"$work"/client <<'EOF'
set -e
cd
grep -q token .client/credentials.json
echo "{}" >.claude.json; echo '{"a":1}' >.claude.json.tmp.1; mv .claude.json.tmp.1 .claude.json
mkdir .claude.json.lock; rmdir .claude.json.lock; mkdir -p .config/x .new-of-version-9; echo s >.new-of-version-9/state
(echo changed >>.client/credentials.json) 2>/dev/null && echo "copy" || echo "kept"
cat "$OTHER" 2>/dev/null && echo "read: $OTHER"
for f in "$OTHER" "/proc/self/root$OTHER" "$OTHER_DIR/../${OTHER_DIR##*/}/bob.json" /proc/1/root/"$OTHER"; do
	cat "$f" 2>/dev/null && echo "read: $f"
done
ls -A | grep -c .
id -u
EOF

for caller in $callers; do
	h=$(home "$caller") d=$work/$caller srv=$work/$caller/srv
	mkdir -p "$h"/.client "$h"/.keys "$h"/app "$h"/.ssh "$srv"/ann/app; echo token >"$h"/.client/credentials.json
	echo token >"$srv"/ann/credentials.json; echo ann >"$h"/.keys/ann.json; echo bob >"$h"/.keys/bob.json; echo ssh >"$h"/.ssh/id
	echo settings >"$h"/.client/settings
	chmod 600 "$h"/.client/* "$h"/.keys/* "$srv"/ann/credentials.json
	cp "$work"/client "$h"/app/client; cp "$work"/client "$srv"/ann/app/client
	[ "$caller" = root ] || [ "$(id -u)" != 0 ] || chown -R $user_id:$user_id "$h" "$srv"
	was() { (cd "$h" && find . ! -path './.local*' -type f -exec cksum {} + | sort); }
	before=$(was)
	# tier NAME N: its Nth command
	tier() { as "$caller" env OTHER="$h"/.keys/bob.json OTHER_DIR="$h"/.keys sh -c "cd '$work' && $(commands "$1" | sed -n "$2p" |
		sed "s|--home private|--state-dir $d/state --home private|
			s/ run / run --stdin null --env OTHER --env OTHER_DIR /")" 2>&1; }

	like "$caller: single user: an empty home" "$(tier "Single user" 1)" "copy
*"
	is "$caller: ... the host's is as before" "$(was)" "$before"
	like "$caller: single user: one like the host's" "$(tier "Single user" 2)" "copy
*"
	is "$caller: ... the host's is as before" "$(was)" "$before"
	is "$caller: family" "$(tier "Trusted family" 1 | head -n 1)" kept
	unlike "$caller: ... nothing of another's key" "$(tier "Trusted family" 1)" "*bob*|*read:*"
	is "$caller: ... the host's is as before" "$(was)" "$before"
	if [ "$caller" = user ]; then
		like "$caller: shared: without subuid(5) it says what is missing" "$(tier "Shared host" 1)" "oc-nsrun: identity *"
	fi
done

if [ "$(id -u)" = 0 ]; then
	# With a range of root's, as keys.sh does.
	cp -a /etc "$work"/etc && mkdir "$work"/var || exit 99
	echo root:200000:65536 | tee "$work"/etc/subuid >"$work"/etc/subgid
	if unshare -m sh -c 'mount --bind "$1/etc" /etc && mount --bind "$1/var" /var/lib' _ "$work" 2>/dev/null; then
		caller=root h=$(home root) srv=$work/root/srv
		line=$(commands "Shared host" 1)
		like "the line for a shared host is there" "$line" "*run --as key:ann --project $srv/ann/app*"
		said=$(as root env OTHER="$h"/.keys/bob.json OTHER_DIR="$h"/.keys unshare -m sh -c '
			mount --bind "$1/etc" /etc && mount --bind "$1/var" /var/lib && cd "$1" && eval "$2"' _ "$work" \
			"$(echo "$line" | sed 's/ run / run --stdin null --env OTHER --env OTHER_DIR /')" 2>&1)
		like "shared: a uid of its own, its credential unchanged" "$said" "kept
*
232768"
		unlike "shared: nothing of another's" "$said" "*bob*"
		is "shared: the credential is as before" "$(cat "$srv"/ann/credentials.json)" token
	else
		skip "shared host" "no mounts here"
	fi
fi
done_testing
