#!/bin/sh
# --log-fd: what is kept of launches, in one file for many.
. "${srcdir:?}"/tests/lib.sh
need_sandbox

for caller in $callers; do
	p=$(project "$caller") log=$work/$caller/log
	: >"$log"; chmod 666 "$log"
	# logged [VAR=VALUE] CMD...: started with a log to append to
	logged() { as "$caller" sh -c 'f=$1; shift; exec "$@" 8>>"$f"' sh "$log" env "$@" 2>/dev/null; }
	# events: of the log, which is then empty
	events() { sed 's/.*"event": "\([a-z]*\)".*/\1/' "$log" | tr '\n' ' '; }
	run="$oc run --stdin null --log-fd 8"

	logged A=canary $run --project . --ro /usr/share --env A -- true
	is "$caller: a launch" "$(events)" "preflight grant grant grant start termination "
	like "$caller: a root that is written" "$(cat "$log")" '*"kind": "root", "name": "'"$p"'", "access": "read-write"*'
	like "$caller: one that is not" "$(cat "$log")" '*"name": "/usr/share", "access": "read-only"*'
	like "$caller: a variable" "$(cat "$log")" '*"kind": "variable", "name": "A"*'
	unlike "$caller: no value" "$(cat "$log")" "*canary*"
	is "$caller: one launch in all records" "$(sed 's/.*"launch": \([0-9]*\).*/\1/' "$log" | sort -u | wc -l)" 1
	is "$caller: the time" "$(grep -cE '"time": "2[0-9]{3}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]\.[0-9]{3}Z"' "$log")" 6
	if [ -x /usr/bin/python3 ]; then
		ok "$caller: each record is JSON" /usr/bin/python3 -c 'import json, sys
for line in open(sys.argv[1]):
    assert json.loads(line)["v"] == 1' "$log"
	fi
	logged $run -- sh -c 'exit 3'
	is "$caller: another is appended" "$(events)" "preflight grant grant grant start termination preflight start termination "
	like "$caller: the status" "$(tail -n 1 "$log")" '*"status": 3*'
	: >"$log"; logged OPENCLAUDIA_TRUST_MCP_SERVERS=a/b $run --profile mcp-stdio --server a/b -- true
	like "$caller: trust in a server" "$(cat "$log")" '*"kind": "server", "name": "a/b"*'
	if command -v git >/dev/null; then
		as "$caller" git init -q repository
		: >"$log"; logged $run --profile git-worktree --project repository -- git add . >/dev/null
		like "$caller: a repository that git writes" "$(cat "$log")" '*"kind": "repository", "name": "'"$p"'/repository/.git", "access": "read-write"*'
		: >"$log"; logged $run --profile git-worktree --project repository -- git status >/dev/null
		unlike "$caller: ... and one that it reads" "$(cat "$log")" '*"kind": "repository"*'
		as "$caller" rm -rf repository
	else
		skip "$caller: a repository that git writes" "git is not here"
	fi
	: >"$log"; logged $run --timeout 300ms -- sleep 60
	is "$caller: a deadline" "$(events)" "preflight start cancellation termination "
	like "$caller: ... by name" "$(cat "$log")" '*"by": "deadline"*"status": 124*'
	: >"$log"; logged timeout -s TERM 0.4 $run -- sh -c 'trap "" TERM; while :; do sleep 1; done'
	like "$caller: a signal that was not obeyed" "$(cat "$log")" '*"event": "cancellation"*"by": "signal", "signal": 15*'
	: >"$log"; logged $run --project /usr -- true
	is "$caller: a denial" "$(events)" "denial "
	like "$caller: ... says what" "$(cat "$log")" '*"category": "bad-input", "step": "project"*"subject": "/usr", "status": 125*'
	: >"$log"; logged "$oc" run --bogus --log-fd 8 -- true
	is "$caller: a bad option before it" "$(events)" "denial "
	: >"$log"; logged "$oc" run --log-fd=8 --env GITHUB_TOKEN=canary -- true
	is "$caller: a credential" "$(events)" "denial "
	unlike "$caller: ... without its value" "$(cat "$log")" "*canary*"
	: >"$log"; logged $run -- no-such-command
	is "$caller: a command that is not there" "$(events)" "preflight denial "
	: >"$log"; logged $run --status-fd 1 -- true >"$work/status"
	is "$caller: beside --status-fd" "$(events)$(sed 's/.*"event": "\([a-z]*\)".*/\1/' "$work/status" | tr '\n' ' ')" \
		"preflight start termination started exited "
	is "$caller: it stays out of the sandbox" "$(logged $run -- sh -c 'ls /proc/self/fd | tr "\n" " "')" "0 1 2 3 "
	for word in 99 x -1 99999999999; do
		status "$caller: no descriptor: $word" 125 as "$caller" "$oc" run --log-fd $word -- true
	done
	said=$(as "$caller" sh -c "exec $oc run --log-fd 5 --status-fd 5 -- true 5>&1" 2>/dev/null)
	is "$caller: one descriptor for both" "$?" 125
	status "$caller: a reader that is gone" 0 as "$caller" sh -c "{ $oc run --stdin null --log-fd 8 -- true; echo \$? >$p/rc; } 8>&1 | true; exit \$(cat $p/rc)"
	status "$caller: a full disk" 0 as "$caller" sh -c "exec $oc run --stdin null --log-fd 8 -- true 8>/dev/full"
	status "$caller: explain has none" 125 as "$caller" sh -c "exec $oc explain --log-fd 8 -- true 8>&1"
done
done_testing
