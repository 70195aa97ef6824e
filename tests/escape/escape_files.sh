#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Files and mounts: outside the grant, read-only within it, and set-user-ID.
. "$srcdir"/tests/lib.sh
. "$srcdir"/tests/escape/escape.sh

# run WORD...: a launch with these options alone; its command is last
run() {
	# shellcheck disable=SC2086
	as "$who" "$oc" run $as_option "$@"
}

# sees WHAT WANT PLACE ID: one check's result, outside the table
sees() {
	got=$(probe "$3" "$4" 2>&1)
	case $got in
	"$4 $2 "*) pass "$mode $1" ;;
	*) fail "$mode $1" "$got" "want: $2" ;;
	esac
}

# A root within a root has the deeper grant, whatever the order.
nested_roots() {
	options="--ro $project/inner-ro --rw $dir/ro/inner-rw"
	sees 'ro in rw (MNT-18)' 'blocked EROFS' sandbox MNT-18.ro_in_rw
	sees 'rw in ro (MNT-18)' 'contained -' sandbox MNT-18.rw_in_ro
	options=
	sees 'ro in rw, control' 'open -' outside MNT-18.ro_in_rw
	sees 'rw in ro, control' 'blocked EROFS' sandbox MNT-18.rw_in_ro
}

# Paths of mountinfo are those of the grant (and of /usr).
mount_sources() {
	sees 'mountinfo names what was granted (MNT-05)' 'blocked -' sandbox \
		MNT-05.sources
	options="--ro $dir/outside"
	sees 'mountinfo, control' 'open -' sandbox MNT-05.sources
	options=
}

# Names that a parser of mountinfo may take for others.
odd_paths() {
	newline='a
b'
	long=$(printf '%0255d' 0)
	for name in 'a b' 'a\040b' 'a\b' "$newline" "$long" \
	    "$(printf 'a\377b')" ' ' '"' '--' "it's"; do
		mkdir "$dir/home/$name" && own "$dir/home/$name"
		(cd "$dir/home/$name" && echo before >mark)
		chmod 666 "$dir/home/$name/mark"
	done
	for name in 'a b' 'a\040b' 'a\b' "$newline" "$long" \
	    "$(printf 'a\377b')" ' ' '"' '--' "it's"; do
		run --project "$dir/home/$name" -- \
			sh -c 'echo inside >mark; pwd >path' \
			>"$work/said" 2>&1 || diag "$(cat "$work/said")"
		changed=$(grep -l inside "$dir"/home/*/mark)
		is "$mode: project '$(printf %.20s "$name" | tr '\n\377' '??')'" \
			"$changed" "$dir/home/$name/mark"
		echo before >"$dir/home/$name/mark"
	done
}

refused() {
	what=$1 want=$2; shift 2
	said=$(run "$@" -- true 2>&1); rc=$?
	case $rc/$said in
	125/*"$want"*) pass "$mode: refused: $what" ;;
	*) fail "$mode: refused: $what" "rc $rc: $said" ;;
	esac
}

broad_roots() {
	for path in / /home /root /proc /proc/self /sys /dev /dev/pts /tmp /usr \
	    /var /etc "$home" "$(dirname "$home")"; do
		[ -d "$path" ] && refused "project $path (FS-20)" : \
			--project "$path"
	done
	ok "$mode: and the project is not" run --project "$project" -- true
}

working_directories() {
	for path in /proc/self/fd/0 /proc/self/cwd/.. "$dir/outside" / \
	    "$project/../../outside" "$project/absent"; do
		refused "cwd $path (FS-19)" : --project "$project" \
			--cwd "$path"
	done
	ln -s "$dir/outside" "$project/way-out"
	refused 'a cwd that is a link out' : --project "$project" \
		--cwd "$project/way-out"
	rm "$project/way-out"
	is "$mode: a cwd in the project is fine" \
		"$(run --project "$project" --cwd "$project/inner-ro" -- pwd)" \
		"$project/inner-ro"
}

# What a control name is decides the host's tools: a link stays what it is.
control_links() {
	kept=$(ls -A "$dir/outside")
	for name in .git .claude .openclaudia; do
		mv "$project/$name" "$work/kept" 2>/dev/null
		ln -s "$dir/outside" "$project/$name"
		run --project "$project" -- sh -c "rm $name; mv $name x
			mkdir $name; ln -sfn x $name; echo >$name/x" >/dev/null 2>&1
		is "$mode: $name is a link and stays it (MNT-15)" \
			"$(readlink "$project/$name"; ls -A "$dir/outside")" \
			"$dir/outside
$kept"
		rm "$project/$name"
		[ ! -e "$work/kept" ] || mv "$work/kept" "$project/$name"
	done
	ok "$mode: and without the link it runs" run --project "$project" -- true
}


# In a mount namespace of ours: mounts within the roots, before and during.
host_mounts() {
	[ "$(id -u)" = 0 ] || return
	cat >"$work/mounts.sh" <<-'EOF'
	set -u
	project=$1 ro=$2 oc=$3; shift 3
	mkdir -p "$project/sub" "$ro/nested"
	mount -t tmpfs none "$ro/nested" && echo host >"$ro/nested/file"
	chmod 777 "$ro/nested" && chmod 666 "$ro/nested/file"
	"$oc" run --project "$project" --ro "$ro" "$@" -- sh -c \
		"echo inside >$ro/nested/file" 2>/dev/null
	echo "nested ro: $(cat "$ro/nested/file")"
	: | "$oc" run --project "$project" "$@" -- sh -c \
		': >started; while [ ! -e go ]; do sleep 0.02; done
		ls sub' >"$project/out" &
	# It may have failed, which the answers below say.
	for i in $(seq 3000); do
		[ -e "$project/started" ] && break
		kill -0 $! 2>/dev/null || break
		sleep 0.02
	done
	mount -t tmpfs none "$project/sub" && : >"$project/sub/late"
	: >"$project/go"
	wait
	echo "late mount: $(cat "$project/out")"
	"$oc" run --project "$project" "$@" -- true 2>"$project/err"
	echo "nested rw: $?"
	umount "$project/sub" "$ro/nested"
	rm -f "$project/started" "$project/go" "$project/out" "$project/err"
	EOF
	# shellcheck disable=SC2086
	is "$mode: mounts below the roots (FS-21, MNT-21)" "$(as root unshare \
		-m --propagation shared sh "$work/mounts.sh" "$project" \
		"$dir/ro" "$oc" $as_option 2>&1)" "nested ro: host
late mount: 
nested rw: 125"
}

mounts='MNT-0[5-9]|MNT-1|RES-08.(root|etc|dev)'
for mode in $modes; do
	stage "$mode"
	for net in denied isolated; do
		run_rows "FS-0|FS-1[012356]|FS-14|FS-25|$mounts"
	done
	net=denied
	refresh
	nested_roots
	mount_sources
	broad_roots
	working_directories
	control_links
	if [ "$mode" != keep ]; then
		odd_paths
		host_mounts
	fi
done
finish
