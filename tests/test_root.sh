#!/bin/sh
# Callers that are root: whom the command becomes, and what that costs it.
. "${srcdir:?}"/tests/lib.sh
[ "$(id -u)" = 0 ] || { echo "1..0 # SKIP needs root"; exit 0; }
need_sandbox
caller=root
p=$(project root)
run() { as root "$oc" run --stdin null "$@"; }
json() { as root "$oc" explain --json "$@" -- true; }

grep -q '^ *0 *0 *4294967295' /proc/self/uid_map ||
	{ echo "1..0 # SKIP this uid 0 is only a user namespace's"; exit 0; }
like "the pipe of a root caller can be opened again" \
	"$(run --project "$(project user)" -- sh -c 'echo again >/dev/stdout' | cat)" again

idmap=$(json --project . | grep -c idmapped-mounts)

if [ "$idmap" = 1 ]; then
	echo secret >"$p/mine"; chmod 600 "$p/mine"
	is "a project of root's: another id" "$(run --project . -- id -u)" 65530
	is "... may read what is root's only" "$(run --project . -- cat mine)" secret
	status "... and write there" 0 run --project . -- sh -c 'echo x >new; chmod 600 mine'
	is "... as root, on the host" "$(stat -c %u:%g "$p/new")" 0:0
	is "... and sees it as its own" "$(run --project . -- stat -c %u new)" 65530
	for bits in 4755 2755 6755; do
		status "no set-id file by chmod $bits" 1 run --project . -- chmod $bits new
	done
	is "... none was made" "$(find "$p" -perm /6000)" ""
	as root sh -c 'touch foreign && chown 12399 foreign && chmod 600 foreign'
	status "another owner's file stays closed" 1 run --project . -- cat foreign
else
	for n in 1 2 3 4 5 6 7 8; do skip "idmapped project ($n)" "no idmapped mounts here"; done
	is "without idmapped mounts uid 0 stays, and says so" "$(json --project . | grep -c '"root_kept": true')" 1
fi

u=$(project user)
is "a user's project: its owner" "$(run --project "$u" -- id -u)" $user_id
status "... who writes it" 0 run --project "$u" -- sh -c 'echo x >new'
is "... as himself" "$(stat -c %u:%g "$u/new")" "$user_id:$user_id"
is "without a project: nobody" "$(run -- id -u)" 65530
if [ "$idmap" = 1 ]; then
	is "--as UID:GID" "$(run --as 4321:8765 --project "$u" -- id -u):$(run --as 4321:8765 --project "$u" -- id -g)" 4321:8765
else
	status "--as UID:GID without idmapped mounts: refused, not replaced" 125 run --as 4321:8765 --project "$u" -- true
fi
is "--as keep stays" "$(run --as keep --project . -- id -u)" 0
like "... and says why" "$(json --as keep --project .)" '*"root_kept": true*asked for with --as keep*'
is "supplementary groups are gone" "$(setpriv --groups 4,5,6 "$oc" run --stdin null --project "$u" -- id -G)" $user_id

# While it is being made, the sandbox is root's memory in a process of another's
# ids: whoever has those may not look into it. Caught by stopping the supervisor.
caught='' seen=''
for delay in 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9; do
	(cd "$u" && SECRET=canary exec "$oc" run --stdin null --project . -- true) 2>/dev/null &
	pid=$!
	sleep 0.00$delay
	kill -STOP $pid 2>/dev/null || { wait $pid; continue; }
	for child in $(cat /proc/$pid/task/$pid/children 2>/dev/null); do
		grep -q "^Uid:.*$user_id" /proc/$child/status 2>/dev/null || continue
		[ "$(cat /proc/$child/comm 2>/dev/null)" = oc-nsrun ] || continue
		caught=yes
		setpriv --reuid $user_id --regid $user_id --clear-groups sh -c \
			"cat /proc/$child/environ || ls /proc/$child/fd" >/dev/null 2>&1 && seen="$seen $delay"
	done
	kill -CONT $pid
	wait $pid
	[ -n "$caught" ] && [ "$delay" = 9 ] && break
done
if [ -n "$caught" ]; then
	is "a sandbox in the making is closed to the ids it takes on" "$seen" ""
else
	skip "a sandbox in the making is closed to the ids it takes on" "none was caught"
fi

# Neither way may the machine be written, or more processes be had.
for as in owner keep; do
	if [ $as = owner ] && [ "$idmap" != 1 ]; then
		skip "--as owner" "no idmapped mounts here"
		continue
	fi
	is "--as $as: no file of /proc/sys is writable" "$(run --as $as --project . -- sh -c \
		'find /proc/sys -type f | while read -r f; do (: >>"$f") 2>/dev/null && echo "$f"; done')" ""
	is "--as $as: nor sysrq-trigger" "$(run --as $as --project . -- sh -c \
		'test -e /proc/sysrq-trigger || exit; (: >>/proc/sysrq-trigger) 2>/dev/null && echo open')" ""
	is "--as $as: no capability" "$(run --as $as --project . -- sh -c \
		'grep -h ^Cap /proc/self/status | tr -d "\t" | sort -u -t: -k2 | cut -d: -f2 | sort -u')" 0000000000000000
	is "--as $as: no set-id file" "$(run --as $as --project . -- sh -c \
		'touch s; chmod u+s s 2>/dev/null; chmod g+s s 2>/dev/null; stat -c %a s')" 644
done
many='for i in $(seq 40); do sleep 5 & done; echo all'
is "the limit on processes holds" "$(run --project "$u" --limit processes=20 -- sh -c "$many" 2>/dev/null)" ""
is "... and only that" "$(run --project "$u" --limit processes=60 -- sh -c "$many" 2>/dev/null)" all

# A set-ID file of root's that is there already could be rewritten through a map.
as root sh -c 'mkdir -p a/b && touch a/b/tool && chmod 4755 a/b/tool'
status "a set-ID file in a project of root's: refused" 125 run --project . -- true
like "... by name" "$said" "*/a/b/tool: has a set-ID bit*"
chmod 755 "$p/a/b/tool"
if command -v setcap >/dev/null && setcap cap_net_raw+ep "$p/a/b/tool" 2>/dev/null; then
	status "a file with capabilities likewise" 125 run --project . -- true
	setcap -r "$p/a/b/tool"
else
	skip "a file with capabilities likewise" "no setcap, or no capabilities of files here"
fi
status "... and once mended, runs" 0 run --project . -- true

# Sources below a closed home.
mkdir -p "$(home root)/.cargo/bin" "$(home root)/.cargo/registry"
printf '#!/bin/sh\necho tool\n' >"$(home root)/.cargo/bin/tool"
chmod 700 "$(home root)/.cargo/bin/tool" "$(home root)/.cargo"
is "a toolchain below a closed home" "$(run --project . -- "$(home root)/.cargo/bin/tool")" tool
fails "... is read-only" run --project . -- sh -c "echo x >$(home root)/.cargo/bin/tool"
echo credential >"$(home root)/.cargo/credentials.toml"
fails "... and its credentials are not there" run --project . -- cat "$(home root)/.cargo/credentials.toml"
done_testing
