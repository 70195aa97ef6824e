#!/bin/sh
# The scan: each kind of hazard, what is none, bounds, and trees that change.
. "${srcdir:?}"/tests/lib.sh
cp "$top_builddir"/tests/scan/probe "$work"/probe || exit 99
cp "$top_builddir"/tests/scan/sock "$work" || exit 99
probe=$work/probe

scan() { as "$caller" "$oc" scan "$@"; }
# A directory of the caller's, anew.
fresh() {
	rm -rf --one-file-system "$p" "$out"
	as "$caller" mkdir "$p" "$out"
}
# kind WHAT KIND: in $p there is one of it and nothing else
kind() {
	status "$caller: $1: status" 1 scan "$p"
	like "$caller: $1: named" "$said" "$2 *$p*: hazards, *$2 *1"
	status "$caller: $1: refused by run" 125 as "$caller" "$oc" run \
		--project "$p" -- true
	like "$caller: $1: ... naming it" "$said" "*$p: *($2): *"
	fresh
}
clean() { status "$caller: $1" 0 scan "$p"; }

kinds() {
	clean "an empty directory is clean"
	like "$caller: ... and says so" "$said" \
		"$p: clean, 0 entries in 1 directories"
	as "$caller" mkfifo "$p/fifo"; kind "a FIFO" fifo
	as "$caller" mkdir -p "$p/a/b"
	as "$caller" "$work/sock" make "$p/a/b/s"; kind "a socket" socket
	as "$caller" mknod "$p/w" c 0 0; kind "a whiteout" whiteout
	as "$caller" sh -c "echo x >$out/o && ln $out/o $p/a"
	kind "a file with a name outside" alias
	if [ "$(id -u)" = 0 ]; then
		mknod "$p/c" c 1 3; kind "a character device" char-device
		mknod "$p/b" b 7 0; kind "a block device" block-device
	fi
	as "$caller" mkdir -p "$p/.git" "$p/.claude/x"
	as "$caller" mkfifo "$p/.claude/x/fifo"
	kind "in a control directory" fifo
}

aliases() {
	as "$caller" sh -c "cd $p && mkdir a b && echo x >a/1 && ln a/1 b/2 &&
		ln a/1 b/3 && ln -s a/1 link && ln -s /etc abroad"
	clean "a file with all its names inside is clean"
	as "$caller" ln "$p/a/1" "$out/o"
	status "$caller: until there is one outside" 1 scan "$p"
	like "$caller: ... and all of them are told" "$said" \
		"*(3 of its 4 names)*(3 of its 4 names)*(3 of its 4 names)*"
	status "$caller: which another writable root may have" 0 as "$caller" \
		"$oc" run --project "$p" --rw "$out" -- true
	status "$caller: but not a read-only one" 125 as "$caller" "$oc" run \
		--project "$p" --ro "$out" -- true
	as "$caller" rm "$out/o"
	clean "and clean again without it"
	# Names below what is read-only are not the command's to write, and what
	# it may write must not be linked there.
	as "$caller" sh -c "mkdir $p/.git && echo x >$out/o &&
		ln $out/o $p/.git/object"
	status "$caller: aliases in a control directory (clone -l)" 0 \
		as "$caller" "$oc" run --project "$p" -- true
	as "$caller" ln "$p/.git/object" "$p/a/object"
	status "$caller: ... but not with a name beside it" 125 \
		as "$caller" "$oc" run --project "$p" -- true
	like "$caller: ... which is told" "$said" "*a/object (alias)*"
	unlike "$caller: ... alone" "$said" "*.git/object*"
	as "$caller" rm "$p/a/object"
	as "$caller" sh -c "mkdir $p/ro && ln $out/o $p/ro/alias &&
		mkfifo $p/ro/fifo"
	status "$caller: a read-only root within has rules of its own" 0 \
		as "$caller" "$oc" run --project "$p" --ro "$p/ro" -- true
	status "$caller: ... without it, its files have not" 125 \
		as "$caller" "$oc" run --project "$p" -- true
	status "$caller: names in a read-only root are not inside" 125 \
		as "$caller" "$oc" run --project "$p" --ro "$p/ro" \
		--ro "$p/a" -- true
	like "$caller: ... as is told" "$said" \
		"*$p: b/2 (alias), b/3 (alias): *"
	fresh
}

# Where a name is any bytes, its text is one line that says which.
names() {
	long=$(printf '%0255d' 0)
	for name in "$(printf 'a\nb')" "$(printf 'a\tb')" 'a\b' 'a\040b' \
	    "$(printf 'a\377b')" "$(printf 'a\302\200b')" "$long" ' ' '"' \
	    '--json' "$(printf '\033[31m')" "$(printf 'n\303\240me')"; do
		as "$caller" mkfifo "$p/$name"
		said=$(scan "$p"); want=$(printf 'fifo          %s/%s' "$p" \
			"$(escape "$name")")
		is "$caller: name: $(escape "$name" | cut -c1-20 |
			tr '\\' '%')" "$(printf '%s\n' "$said" | head -n 1 |
			tr '\\' '%')" "$(printf %s "$want" | tr '\\' '%')"
		like "$caller: ... refused by run" "$(as "$caller" "$oc" run \
			--project "$p" -- true 2>&1)" \
			"oc-nsrun: project $p: *(fifo): may *"
		if [ -x /usr/bin/python3 ]; then
			is "$caller: ... in JSON" "$(scan "$p" --json |
				/usr/bin/python3 -c 'import json, os, sys
for o in json.load(sys.stdin)["offenders"]:
    sys.stdout.buffer.write(os.fsencode(o["path"]))')" "$p/$name"
		fi
		rm "$p/$name"
	done
	# Ten are named, all are counted.
	as "$caller" sh -c "cd $p && for i in \$(seq 1 25); do mkfifo f\$i; done"
	said=$(scan "$p")
	is "$caller: ten are named" "$(echo "$said" | grep -c "^fifo.*$p/")" 10
	like "$caller: ... and how many more there are" "$said" \
		"*... and 15 more*fifo * 25"
	like "$caller: ... also where it is refused" "$(as "$caller" "$oc" run \
		--project "$p" -- true 2>&1)" "*f10 (fifo)*and 15 more: *"
	fresh
}
# As nsrun_name_escape() does.
escape() {
	printf %s "$1" | sed 's/\\/\\134/g; s/\t/\\011/g; s/\x1b/\\033/g' |
		awk 'NR > 1 { printf "\\012" } { printf "%s", $0 }' |
		LC_ALL=C sed 's/a\xffb/a\\377b/; s/a\xc2\x80b/a\\302\\200b/'
}

bounds() {
	as "$caller" sh -c "cd $p && mkdir -p a/b/c && touch 1 2 3 a/4 a/b/c/5"
	all="100 10 5000 5000"
	# shellcheck disable=SC2086
	status "$caller: within its bounds" 0 as "$caller" "$probe" scan "$p" $all
	for row in '7 10 5000|has more entries' '100 2 5000|is deeper' \
	    '100 10 0|time that a scan may take'; do
		# shellcheck disable=SC2086
		status "$caller: bound ${row%|*}" 125 as "$caller" "$probe" \
			scan "$p" ${row%|*} 5000
		like "$caller: ... is told" "$said" "error: $p*: *${row#*|}*"
	done
	as "$caller" "$probe" scan "$p" 8 3 5000 5000 >/dev/null
	is "$caller: a bound may be reached" $? 0
	fresh
}

depth() {
	as "$caller" "$probe" deep "$p" 10000 1
	# A small stack and few descriptors do.
	status "$caller: 10,000 levels" 1 as "$caller" \
		sh -c "ulimit -s 256; ulimit -n 80; $oc scan $p"
	like "$caller: ... and what is at the end" "$said" \
		"fifo *deeper/fifo*10001 entries in 10001 directories*"
	status "$caller: ... which nothing can cover" 125 as "$caller" "$oc" \
		run --project "$p" --on-hazard shield -- true
	[ $caller = root ] ||
		like "$caller: ... and that is told" "$said" "*longer than any*"
	fresh
	as "$caller" "$probe" deep "$p" 3000 3
	status "$caller: 3,000 levels of three" 1 as "$caller" \
		sh -c "ulimit -s 256; ulimit -n 80; timeout 60 $oc scan $p"
	like "$caller: ... counted" "$said" "*9001 entries in 9001 *"
	fresh
}

unreadable() {
	[ $caller = user ] || return
	for mode in 000 111 444; do
		as "$caller" sh -c "mkdir $p/d && echo >$p/d/f &&
			chmod $mode $p/d"
		status "$caller: a directory of mode $mode" 125 scan "$p"
		like "$caller: ... is named" "$said" \
			"oc-nsrun: project $p/d*: *: Permission denied"
		status "$caller: ... and not granted, shields or not" 125 \
			as "$caller" "$oc" run --project "$p" \
			--on-hazard shield -- true
		as "$caller" chmod 700 "$p/d"
		rm -r "$p/d"
	done
}

# In a mount namespace of root's.
mounts() {
	[ "$(id -u)" = 0 ] || return
	odd=$(printf 'o\n\\040 d\377')
	as "$caller" sh -c 'cd "$1" && mkdir dir "$2" && touch file &&
		ln -s file link' sh "$p" "$odd"
	cat >"$work/mounts.sh" <<-'EOF2'
	cd "$1" || exit
	case $2 in
	dir) mount -t tmpfs none dir && mkdir dir/x && mount -t tmpfs none dir/x ;;
	same) mount --bind dir dir ;;
	file) mount --bind file file ;;
	odd) mount -t tmpfs none "$3" ;;
	root) mount --bind "$1" "$1" && cd "$1" ;;
	esac
	"$4" scan "$1"
	echo "rc $?"
	"$4" run --project "$1" --on-hazard shield -- true 2>&1
	echo "rc $?"
	"$4" run --project "$1" --ro "$1/$3" -- true >/dev/null 2>&1
	echo "ro rc $?"
	EOF2
	try() { unshare -m sh "$work/mounts.sh" "$p" "$1" "$odd" "$oc"; }
	for what in dir same file; do
		said=$(try $what)
		like "$caller: mount on $what" "$said" \
			"mount *$p/${what%same}*mount *1*rc 1
*rc 125
ro rc 125"
	done
	like "$caller: mount on an odd name" "$(try odd)" \
		"mount *$p/o?012?134040 d?377
*rc 1
*$p: o?012?134040 d?377 (mount): holds what is mounted*rc 125
ro rc 0"
	like "$caller: a mount on the root itself is none" "$(try root)" \
		"*clean*rc 0*rc 0*"
	fresh
}

# A subvolume is another file system that no mount table tells of.
subvolumes() {
	what="$caller: a subvolume below a root"
	[ "$(id -u)" = 0 ] || { skip "$what" "only root can mount"; return; }
	command -v mkfs.btrfs >/dev/null || { skip "$what" "no mkfs.btrfs"; return; }
	truncate -s 160M "$work/btrfs"
	mkfs.btrfs -q -f "$work/btrfs" >/dev/null 2>&1 &&
		unshare -m mount -t btrfs -o loop "$work/btrfs" "$p" 2>/dev/null || {
		skip "$what" "no btrfs, or no loop device"; rm -f "$work/btrfs"; return; }
	cat >"$work/subvolumes.sh" <<-'EOF2'
	mount -t btrfs -o loop "$1" "$2" && cd "$2" || exit 99
	try() {
		echo "$1: scan $($as "$oc" scan "$2" | tr -s ' ')" \
			"run $($as "$oc" run --project "$2" --on-hazard shield -- sh -c \
			'echo x >here; ln here there; cat there' 2>&1)"
	}
	btrfs subvolume create project/ >/dev/null
	mkdir project/d
	touch project/d/file && ln project/d/file project/alias
	chown -R "$3:$3" project
	try clean "$2/project"
	btrfs subvolume create project/d/sub >/dev/null
	touch project/d/sub/file
	chown -R "$3:$3" project
	try below "$2/project"
	EOF2
	as=
	[ $caller = root ] || as="setpriv --reuid $user_id --regid $user_id
		--clear-groups --inh-caps=-all env HOME=$(home user)"
	said=$(oc=$oc as=$as unshare -m sh "$work/subvolumes.sh" "$work/btrfs" "$p" \
		"$(as "$caller" id -u)" 2>&1)
	like "$caller: a subvolume is a root like any other" "$said" \
		"clean: scan *: clean, 3 entries in 2 directories run x
*"
	like "$what is found and refused" "$said" \
		"*below: *file-system $p/project/d/sub*file-system 1*d/sub (file-system): holds what is mounted*"
	rm "$work/btrfs"
	fresh
}

races() {
	for race in fifo alias directory ancestor exchange; do
		status "$caller: 10,000 swaps: $race: never clean" 0 \
			as "$caller" timeout 120 "$probe" race $race "$p" 10000
		diag "$said"
		fresh
	done
	# What is quiet for a moment only is seen in that moment.
	as "$caller" sh -c "cd $p && (while [ ! -e ../stop ]; do
		: >busy; rm busy; sleep 0.05; done) &"
	status "$caller: a tree that is worked in" 0 scan "$p"
	as "$caller" touch "$p/../stop"
	fresh
}

input() {
	status "$caller: scan of nothing" 125 scan
	status "$caller: scan of two" 125 scan "$p" "$p"
	status "$caller: scan of a file" 125 scan "$oc"
	status "$caller: scan of what is not there" 125 scan "$p/absent"
	status "$caller: scan with another option" 125 scan --quick "$p"
	status "$caller: a relative path" 0 as "$caller" sh -c \
		"cd $p && $oc scan ."
	as "$caller" ln -s "$p" "$out/link"
	like "$caller: a link to a directory" "$(scan "$out/link")" "$p: clean*"
	is "$caller: --json" "$(scan --json -- "$p")" '{"v": 1, "path": "'"$p"'", "clean": true, "entries": 0, "directories": 1, "hazards": {"mount": 0, "file-system": 0, "socket": 0, "fifo": 0, "char-device": 0, "block-device": 0, "whiteout": 0, "alias": 0}, "offenders": []}'
	status "$caller: --on-hazard of another word" 125 as "$caller" "$oc" \
		run --on-hazard ignore -- true
	like "$caller: ... is told" "$said" "*--on-hazard ignore*refuse*shield*"
}

need_sandbox
for caller in $callers; do
	p=$(project $caller)/p out=$(project $caller)/out
	fresh
	kinds
	aliases
	names
	bounds
	depth
	unreadable
	mounts
	subvolumes
	races
	input
done
done_testing
