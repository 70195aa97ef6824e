#!/bin/sh
# A client that keeps state all over its home, alone and fifty at once, in each
# home: it works, and the host's files stay what they are, byte by byte.
. "${srcdir:?}"/tests/lib.sh
. "$srcdir"/tests/home/home.sh
need_sandbox
command -v python3 >/dev/null || { echo "1..0 # SKIP no python3"; exit 0; }
python3 -c 'import sqlite3' 2>/dev/null || { echo "1..0 # SKIP python3 has no sqlite3"; exit 0; }

n=50
# at_once OPTION...: n clients; how many were fine
at_once() {
	rm -rf "$work/said"; mkdir "$work/said"
	for i in $(seq $n); do
		# shellcheck disable=SC2086
		run "$@" -- python3 client.py inplace >"$work/said/$i" 2>"$work/said/$i.err" &
	done
	wait
	cat "$work"/said/*.err | grep -v '^$' | sort | uniq -c | head -n 5 >&2
	cat "$work"/said/* | grep -c '^fine$'
}

for caller in $callers; do
	furnish "$caller"
	cp "$srcdir"/tests/home/client.py "$p"/ && chmod 644 "$p"/client.py
	before=$(tree "$h")
	copy="--credential-copy $h/.claude/.credentials.json"
	for kind in tmpfs private private=key overlay "overlay --home-keep key"; do
		for how in none inplace rename lock; do
			# shellcheck disable=SC2086
			is "$caller: $kind: a client, credential $how" "$(run --home $kind $copy -- python3 client.py $how 2>&1)" fine
		done
	done
	for kind in tmpfs private private=key private=new overlay; do
		# shellcheck disable=SC2086
		is "$caller: $kind: $n at once" "$(at_once --home $kind $copy)" $n
	done
	is "$caller: the data base of the shared home has them all" "$(run --home private=key -- python3 -c '
import os, sqlite3
print(sqlite3.connect(os.environ["HOME"] + "/.claude/history.db").execute("SELECT COUNT(*) FROM seen").fetchone()[0])')" $((n + 4))
	is "$caller: the host's home is as it was, byte by byte" "$(tree "$h")" "$before"

	# A credential that cannot be written, and a client that does not try.
	is "$caller: a client with a credential to read" "$(run --home tmpfs --credential "$h/.claude/.credentials.json" -- python3 client.py none)" fine
	fails "$caller: ... that tries" run --home tmpfs --credential "$h/.claude/.credentials.json" -- python3 client.py inplace
	fails "$caller: ... by renaming" run --home tmpfs --credential "$h/.claude/.credentials.json" -- python3 client.py rename
	is "$caller: the host's home is as it was" "$(tree "$h")" "$before"
	as "$caller" "$oc" home --state-dir "$state" release private=key private=new overlay=key
done
done_testing
