#!/bin/sh
# --on-hazard shield: what is covered cannot be written, what is beside it can,
# and the host's tree is as it was.
. "${srcdir:?}"/tests/lib.sh
cp "$top_builddir"/tests/scan/probe "$work"/probe || exit 99
cp "$top_builddir"/tests/scan/sock "$work" || exit 99
probe=$work/probe

run() {
	as "$caller" "$oc" run --project "$p" --ro "$work/probe.d" \
		--on-hazard shield "$@"
}
inside() { run -- sh -c "cd $p && $1"; }
# Everything that stat(2) tells but atime, which reading may change.
state() {
	(cd "$1" && find . -printf '%p %i %m %n %U:%G %s %T@ %C@\n' | sort
	find . -type f -print0 | sort -z | xargs -0 cat | cksum)
}

# Without what was renamed and back, and its directory.
tree_only() { grep -v -e '^\. ' -e '^\./\.venv '; }

# As pnpm does: packages linked from a store, links to them, and its own files;
# as uv does: packages of an environment, with what it wrote itself beside.
farms() {
	as "$caller" sh -eu -c '
	store=$2
	cd "$1"
	mkdir -p .git .claude .openclaudia src node_modules/.bin .venv/lib/python3/site-packages "$store"
	echo main >src/main.js
	for i in 1 2 3; do
		dir=node_modules/.pnpm/pkg$i@1/node_modules/pkg$i
		mkdir -p "$dir/lib"
		for f in index.js package.json lib/a.js; do
			echo "store $i" >"$store/$i-$(echo $f | tr / -)"
			ln "$store/$i-$(echo $f | tr / -)" "$dir/$f"
		done
		ln -s ".pnpm/pkg$i@1/node_modules/pkg$i" node_modules/pkg$i
		dir=.venv/lib/python3/site-packages/uvpkg$i
		mkdir -p "$dir" "$dir-1.dist-info"
		for f in __init__.py core.py; do
			echo "store uv $i" >"$store/uv-$i-$f"
			ln "$store/uv-$i-$f" "$dir/$f"
		done
		echo "store uv $i" >"$store/uv-$i-METADATA"
		ln "$store/uv-$i-METADATA" "$dir-1.dist-info/METADATA"
		echo uv >"$dir-1.dist-info/INSTALLER"
	done
	echo "#!/bin/sh" >node_modules/.bin/tool
	echo yaml >node_modules/.modules.yaml
	mkdir -p dist
	mkfifo dist/fifo' sh "$p" "$out"
	as "$caller" "$work/sock" make "$p/dist/server.sock"
}

list='import json, sys
for line in sys.stdin:
    r = json.loads(line)
    for s in r.get("shields", []):
        print(s["hazard"], s["path"])
    for m in r.get("mounts", []):
        if "hazard" in m:
            assert {"hazard": m["hazard"], "path": m["target"]} in r["shields"]'

covers() {
	want="alias $p/.venv/lib/python3/site-packages/uvpkg1
alias $p/.venv/lib/python3/site-packages/uvpkg1-1.dist-info/METADATA
alias $p/.venv/lib/python3/site-packages/uvpkg2
alias $p/.venv/lib/python3/site-packages/uvpkg2-1.dist-info/METADATA
alias $p/.venv/lib/python3/site-packages/uvpkg3
alias $p/.venv/lib/python3/site-packages/uvpkg3-1.dist-info/METADATA
alias $p/node_modules/.pnpm
fifo $p/dist/fifo
socket $p/dist/server.sock"
	tree=$(as "$caller" "$oc" explain --project "$p" --on-hazard shield -- true)
	for word in .pnpm uvpkg1 METADATA; do
		like "$caller: the tree lists $word" "$tree" \
			"*$word * ro  shielded: alias*"
	done
	like "$caller: ... and the FIFO" "$tree" "*fifo * ro  shielded: fifo*"
	[ -x /usr/bin/python3 ] || return
	is "$caller: started lists the covers" "$(run --status-fd 3 -- true \
		3>&1 >/dev/null | /usr/bin/python3 -c "$list" | sort)" "$want"
	is "$caller: explain --json lists them" "$(as "$caller" "$oc" explain \
		--json --project "$p" --on-hazard shield -- true |
		/usr/bin/python3 -c "$list" | sort)" "$want"
}

untimed='/^\. /s/ [^ ]* [^ ]*$//'
writes() {
	before=$(state "$p") before_out=$(state "$out")
	status "$caller: a launch" 0 run -- true
	# But for the times of the top, where names were kept absent meanwhile.
	is "$caller: ... changes nothing" "$(state "$p" | sed "$untimed")" \
		"$(echo "$before" | sed "$untimed")"
	for path in node_modules/.pnpm/pkg1@1/node_modules/pkg1/index.js \
	    node_modules/pkg2/lib/a.js node_modules/.pnpm/new \
	    .venv/lib/python3/site-packages/uvpkg1/core.py \
	    .venv/lib/python3/site-packages/uvpkg2-1.dist-info/METADATA; do
		fails "$caller: no write to $path" inside "echo inside >$path"
		like "$caller: ... EROFS" "$said" "*Read-only file system*"
	done
	alias=.venv/lib/python3/site-packages/uvpkg2-1.dist-info/METADATA
	fails "$caller: an alias is not removed" inside "rm -f $alias"
	fails "$caller: ... nor renamed" inside "mv $alias moved"
	fails "$caller: ... nor linked" inside "ln $alias linked"
	fails "$caller: ... nor given another mode" inside "chmod 777 $alias"
	fails "$caller: ... nor by way of a renamed parent" inside \
		"mv .venv venv2; echo x >venv2/${alias#.venv/}; rc=\$?
		mv venv2 .venv; exit \$rc"
	is "$caller: what was linked is as it was" "$(state "$out")" \
		"$before_out"
	is "$caller: and so is the tree" "$(state "$p" | tree_only)" \
		"$(echo "$before" | tree_only)"
	status "$caller: what is beside is written" 0 inside \
		'echo 1 >src/main.js && echo 2 >node_modules/.modules.yaml &&
		echo 3 >node_modules/.bin/tool && mkdir node_modules/.cache &&
		echo 4 >.venv/lib/python3/site-packages/uvpkg1-1.dist-info/INSTALLER &&
		mkdir .venv/lib/python3/site-packages/new && echo 5 >dist/out &&
		cat node_modules/pkg1/index.js >copy && rm copy'
	is "$caller: on the host, too" "$(cat "$p/src/main.js" "$p/dist/out")" "1
5"
}

specials() {
	# A reader that would block for ever is refused at once.
	status "$caller: a FIFO is not opened" 2 as "$caller" timeout 20 "$oc" \
		run --project "$p" --on-hazard shield -- sh -c "cat <$p/dist/fifo"
	like "$caller: ... EACCES" "$said" "*Permission denied*"
	status "$caller: a socket is not connected to" 1 run \
		--network isolated -- "$work/probe.d/sock" connect \
		"$p/dist/server.sock"
	is "$caller: ... there is none" "$said" ECONNREFUSED
	fails "$caller: neither is removed" inside "rm -f dist/server.sock"
	as "$caller" mknod "$p/whiteout" c 0 0
	fails "$caller: a whiteout neither" inside "rm -f whiteout"
	is "$caller: all are still there" "$(cd "$p" && find . -type p -o \
		-type s -o -type c | sort | tr '\n' ' ')" \
		"./dist/fifo ./dist/server.sock ./whiteout "
	# What a command leaves does not end the next launch.
	rm "$p/dist/fifo" "$p/dist/server.sock" "$p/whiteout"
	status "$caller: a command makes a FIFO" 0 inside "mkfifo left"
	status "$caller: ... and the next one starts" 0 inside "echo >src/next"
	rm "$p/left"
	as "$caller" mkdir -p "$p/.git"
	as "$caller" "$work/sock" make "$p/.git/ipc"
	status "$caller: a socket in a control directory" 1 run \
		--network isolated -- "$work/probe.d/sock" connect "$p/.git/ipc"
	is "$caller: ... is covered, too" "$said" ECONNREFUSED
	rm "$p/.git/ipc"
}

# A plan is made, then what it covers is swapped: nothing starts.
swaps() {
	as "$caller" sh -c "cd $p && mkdir one && echo x >one/plain &&
		ln $out/1-index.js one/alias && mkdir other other/uv &&
		echo x >other/file"
	status "$caller: without a swap it starts" 0 as "$caller" "$probe" \
		swap "$p" "$p/one/alias" "$p/one/alias"
	for pair in "one/alias other/file" "one other" \
	    "node_modules/.pnpm other/uv"; do
		# shellcheck disable=SC2086
		set -- $pair
		status "$caller: $1 swapped" 125 as "$caller" "$probe" swap \
			"$p" "$p/$1" "$p/$2"
		like "$caller: ... is seen" "$(echo "$said" |
			grep -E 'replaced since|No such file')" "error: $p/*"
		as "$caller" "$probe" swap "$p" "$p/$1" "$p/$2" >/dev/null
	done
}

many() {
	as "$caller" sh -c "cd $p && mkdir many && cd many &&
		for i in \$(seq 1 2000); do : >\$i; : >p\$i; done &&
		mkdir $out/many && ln [0-9]* $out/many"
	status "$caller: two thousand covers" 0 as "$caller" timeout 60 "$oc" \
		run --project "$p" --on-hazard shield -- sh -c \
		"cd $p/many && echo x >p7 && ! echo x >7"
	is "$caller: ... each is one" "$(as "$caller" timeout 60 "$oc" explain \
		--project "$p" --on-hazard shield -- true | grep -c shielded:)" \
		$((2000 + 8))
}

# Each root has its own; nothing of how they were made is left inside.
roots() {
	as "$caller" sh -c "mkdir $p/../more $p/../more/sub &&
		echo x >$p/../more/sub/1 && ln $p/../more/sub/1 $out/more"
	more=$(cd "$p/../more" && pwd)
	for path in "$p/many/7" "$more/sub/1"; do
		status "$caller: two roots: ${path##*/}" 2 as "$caller" "$oc" run \
			--project "$p" --rw "$more" --on-hazard shield -- \
			sh -c "echo >$more/beside && echo inside >$path"
	done
	is "$caller: mounts inside are where they belong" "$(as "$caller" \
		"$oc" run --project "$p" --rw "$more" --on-hazard shield -- \
		awk '{ print $5 }' /proc/self/mountinfo |
		grep -v -e "^$p" -e "^$more" | grep -e shade -e many -e sub)" ""
	rm -r "$more"
}

need_sandbox
mkdir "$work/probe.d" && cp "$work/sock" "$work/probe.d"
for caller in $callers; do
	p=$(project $caller)/p out=$(project $caller)/out
	as $caller mkdir "$p" "$out"
	farms
	covers
	writes
	specials
	swaps
	many
	roots
done
done_testing
