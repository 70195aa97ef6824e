#!/bin/sh
# doctor: counts and states of what is granted, never a value.
. "${srcdir:?}"/tests/lib.sh
need_sandbox

for caller in $callers; do
	p=$(project "$caller") d=$work/$caller
	mkdir -p "$d/ro" "$d/rw"
	chown -R "$(stat -c %u:%g "$p")" "$d/ro" "$d/rw"
	doctor() { as "$caller" env "$@"; }
	said=$(doctor "$oc" doctor)
	for line in "ok    backend: oc-nsrun *" "ok    syscall policy: seccomp-1" "ok    resource limits: cpu=300, data=4G, file-size=256M, files=1K, processes=256" \
	    "ok    capability roots: 0 read-only, 0 read-write" "ok    explicit environment grants: 0 variable names, values redacted" \
	    "ok    network: denied*" "ok    launch: *"; do
		like "$caller: $line" "$said" "*
$line*"
	done
	said=$(doctor OPENCLAUDIA_AGENT_READ_ONLY_ROOTS="$d/ro:/usr/share" OPENCLAUDIA_AGENT_READ_WRITE_ROOTS="$d/rw" \
		OPENCLAUDIA_AGENT_ENV_GRANTS=CANARY_A CANARY_A=canary-value OPENCLAUDIA_TRUST_MCP_SERVERS="a/b,c/d" \
		OPENCLAUDIA_MCP_ENV_GRANTS=X_TOKEN,Y_TOKEN X_TOKEN=canary-value "$oc" doctor)
	like "$caller: roots" "$said" "*capability roots: 2 read-only, 1 read-write*"
	like "$caller: masks" "$(doctor OPENCLAUDIA_PROJECT_SECRET_MASKS=a,canary/b "$oc" doctor)" "*ok    masks: 2*"
	like "$caller: variables" "$said" "*grants: 1 variable name, values redacted*"
	like "$caller: servers" "$said" "*server a/b: trust=required, profile=mcp-stdio, network=denied, env-grants=2*server c/d: *"
	for value in canary-value CANARY_A X_TOKEN "$d"; do
		unlike "$caller: not shown: $value" "$said" "*$value*"
	done
	if [ -x /usr/bin/python3 ]; then
		ok "$caller: the same numbers in JSON" sh -c 'OPENCLAUDIA_AGENT_ENV_GRANTS=A,B OPENCLAUDIA_TRUST_MCP_SERVERS=a/b "$1" doctor --json | /usr/bin/python3 -c "import json, sys
d = json.load(sys.stdin)
assert d[\"env_grants\"] == 2 and d[\"servers\"] == 1 and d[\"boundary\"] == \"sandbox\"
assert d[\"roots_read_only\"] == 0 and not d[\"configured\"]"' sh "$oc"
	fi
	said=$(doctor OPENCLAUDIA_AGENT_READ_ONLY_ROOTS=/canary/path "$oc" doctor)
	like "$caller: grants in error" "$said" "*
FAIL  grants: ...: realpath: ENOENT*every launch fails*"
	unlike "$caller: ... without their value" "$said" "*canary*"
	like "$caller: ... the host is asked all the same" "$said" "*ok    launch: *"
	like "$caller: a bad name" "$(doctor OPENCLAUDIA_AGENT_ENV_GRANTS=LD_PRELOAD "$oc" doctor)" "*FAIL  grants: *OPENCLAUDIA_AGENT_ENV_GRANTS: LD_PRELOAD*"
	said=$(doctor OPENCLAUDIA_BASH_SANDBOX=off "$oc" doctor); rc=$?
	is "$caller: off without permission is unhealthy" $rc 1
	like "$caller: ... and told" "$said" "*FAIL  sandbox: OPENCLAUDIA_BASH_SANDBOX is off and the site does not permit it*"
	like "$caller: ... the host is asked all the same" "$said" "*ok    launch: *"
	like "$caller: hooks that no site permits" "$(doctor OPENCLAUDIA_TRUST_UNSANDBOXED_HOOKS=1 "$oc" doctor)" "*--    hooks: *does not permit it*"
done

# With a site's configuration, and a copy that only root can replace.
if [ "$(id -u)" = 0 ] && cp -a /etc "$work/etc" && ! [ -e /etc/oc-nsrun ] &&
    unshare -m mount --bind "$work/etc" /etc 2>/dev/null; then
	mkdir -m 755 "$work/etc/oc-nsrun" "$work/etc/bin-of-test"
	cp "$oc" "$work/etc/bin-of-test/oc-nsrun"
	at() {
		unshare -m sh -c 'mount --bind "$1" /etc && shift && exec "$@"' sh "$work/etc" \
			env -i PATH="$PATH" HOME="$(home root)" "$@" /etc/bin-of-test/oc-nsrun doctor
	}
	printf 'permit unsandboxed hook-none\n' >"$work/etc/oc-nsrun/oc-nsrun.conf"
	printf 'profile mine\nlike shell\n' >"$work/etc/oc-nsrun/mine.profile"
	said=$(at A=1); rc=$?
	is "healthy, where no profile is granted" $rc 0
	like "the configuration is named" "$said" "*ok    configuration: /etc/oc-nsrun/oc-nsrun.conf*"
	like "a profile of the site" "$said" "*ok    site profile: mine*"
	said=$(at OPENCLAUDIA_BASH_SANDBOX=off); rc=$?
	is "off with permission is healthy" $rc 0
	like "... and warned of" "$said" "*--    WARNING: OPENCLAUDIA_BASH_SANDBOX is off, and the site permits it*"
	like "so are hooks" "$(at OPENCLAUDIA_TRUST_UNSANDBOXED_HOOKS=yes)" "*--    WARNING: hooks may run without a sandbox*"
	printf 'profile mine\nlike shell\nbogus\n' >"$work/etc/oc-nsrun/mine.profile"
	said=$(at A=1); rc=$?
	is "a mistake in a profile is unhealthy" $rc 1
	like "... and named by line and column" "$said" "*FAIL  site profile: /etc/oc-nsrun/mine.profile:3:1: *"
	rm "$work/etc/oc-nsrun/mine.profile"; chmod 666 "$work/etc/oc-nsrun/oc-nsrun.conf"
	said=$(at A=1); rc=$?
	is "a configuration that others can write is unhealthy" $rc 1
	like "... and told" "$said" "*FAIL  grants: /etc/oc-nsrun/oc-nsrun.conf: is writable by group or others*"
else
	skip "doctor and a site's configuration" "needs root, for an /etc of its own"
fi
# More of mountinfo than 1 MiB, as on hosts of many containers.
name=$(printf %0240d 0) deep=$work/many
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do deep=$deep/$name; done
if [ "$(id -u)" = 0 ] && mkdir -p "$deep" && said=$(unshare -m sh -c '
	for i in $(seq 170); do mount --bind "$1" "$1" || exit 99; done
	[ "$(wc -c </proc/self/mountinfo)" -gt 1048576 ] || exit 99
	"$2" doctor | sed -n "/ cgroup: /p"' sh "$deep" "$oc" 2>/dev/null); then
	is "a thousand mounts do not hide the cgroup" "$said" "$("$oc" doctor | sed -n "/ cgroup: /p")"
else
	skip "a thousand mounts do not hide the cgroup" "no mounts here"
fi
done_testing
