# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh disable=SC2154,SC2086
# Destinations (CVE-2026-87766 and its kind) and the links of ordinary trees.

# Everything about a tree but, with $2, the times of its directories.
fingerprint() {
	(cd "$1" && find . -printf "%p %y %m %U %G %n %s ${2-%T@} %l\n" | sort
	find . -type f -exec cksum {} + | sort) | cksum
}

# The words of an operation on something below D.
operation() {
	case $1 in
	dir)		echo "--dir $2/evil" ;;
	file)		echo "--file 7 $2/evil" ;;
	bind-data)	echo "--bind-data 7 $2/evil" ;;
	bind)		echo "--bind /etc $2/evil --ro-bind /dev/null $2/stub" ;;
	tmpfs)		echo "--tmpfs $2/evil" ;;
	symlink)	echo "--symlink text $2/evil" ;;
	chmod)		echo "--chmod 0666 $2/file" ;;
	remount-ro)	echo "--remount-ro $2/evil" ;;
	overlay)	echo "--overlay-src /etc --tmp-overlay $2/evil" ;;
	proc)		echo "--proc $2/evil" ;;
	dev)		echo "--dev $2/evil" ;;
	esac
}
operations='dir file bind-data bind tmpfs symlink chmod remount-ro overlay proc dev'

# Where the kinds of link lead, and the destination that has it.
place_link() {
	own rm -rf p
	own mkdir -p p/d out/sub
	own sh -c 'echo old >out/file; chmod 640 out/file; echo old >p/d/file'
	own touch -d 2001-01-01 out/file out/sub out
	dest=p/l
	case $1 in
	oldroot)	own ln -s "/oldroot$P/out" p/l ;;
	proc-fd)	own ln -s /proc/self/fd/8 p/l ;;
	proc-root)	own ln -s "/proc/self/root$P/out" p/l ;;
	absolute)	own ln -s "$P/out" p/l ;;
	relative)	own ln -s ../../../../../../../../..$P/out p/l ;;
	dots)		dest=p/../../../../../../../../../oldroot$P/out ;;
	swapped)	own ln -s "/oldroot$P/out" p/l; dest=p/d ;;
	esac
}

attack() {
	# shellcheck disable=SC2046
	fd "7=$P/data,8=$P/out" --ro-bind / / --bind "$P/p" "$P/p" \
		$(operation "$1" "$P/$dest") --unshare-pid true >/dev/null 2>&1
	attack_rc=$?
	# And with nothing there that a link could lead to. (No dots: the
	# root of the sandbox is as good a place as any.)
	# shellcheck disable=SC2046
	fd "7=$P/data,8=$P/out" --ro-bind /usr /usr --bind "$P/p" /p \
		$(operation "$1" "/$dest") --unshare-pid true >/dev/null 2>&1
	# Refused or not, but done with.
	[ $attack_rc -le 1 ] && [ $? -le 1 ]
}

destinations() {
	own sh -c 'echo data >data'
	for kind in oldroot proc-fd proc-root absolute relative dots; do
		place_link $kind
		before=$(fingerprint "$P/out") granted=$(fingerprint "$P/p" ' ')
		for operation in $operations; do
			attack $operation
			is "$caller: --$operation through a link: $kind" \
				"$? $(fingerprint "$P/out") $(fingerprint "$P/p" ' ')" \
				"0 $before $granted"
		done
	done
	place_link swapped
	before=$(fingerprint "$P/out")
	as "$caller" "$aid" swap "$P/p/d" "$P/p/l" &
	swapper=$!
	for operation in $operations; do
		rc=0
		for _ in 1 2 3 4 5 6 7 8; do attack $operation || rc=1; done
		is "$caller: --$operation through a link that is swapped" \
			"$rc $(fingerprint "$P/out")" "0 $before"
	done
	kill $swapper; wait $swapper
	own rm -rf p out data
}

# A source by descriptor is what was opened, whatever its name is now
# (CVE-2024-42472, CVE-2026-34078).
sources() {
	own mkdir -p s/mine s/other
	own sh -c 'echo mine >s/mine/file; echo other >s/other/file
		ln -s other s/link'
	as "$caller" "$aid" swap "$P/s/mine" "$P/s/link" &
	swapper=$!
	got=$(own "$probe" only - sh -c 'n=0
		until exec 3<s/mine && [ "$(cat /proc/self/fd/3/file)" = mine ]; do
			:
		done
		while [ $((n += 1)) -le 150 ]; do
			bwrap --ro-bind / / --bind-fd 3 /mnt cat /mnt/file 2>/dev/null ||
				echo refused
		done' | sort | uniq -c | awk '$2 != "refused" { print $2 }')
	kill $swapper; wait $swapper
	unlike "$caller: --bind-fd is never another's" "$got" '*other*'
	own rm -rf s
	own mkdir s
	is "$caller: --bind-fd of what was renamed" "$(own "$probe" only - sh -c '
		echo here >s/file; exec 3<s; mv s s2
		exec bwrap --ro-bind / / --bind-fd 3 /mnt cat /mnt/file')" here
	own rm -rf s2
	own mkdir s
	for what in "directory exec 3<s; rmdir s" "file echo >f; exec 3<f; rm f"; do
		status "$caller: --bind-fd of a removed ${what%% *}" 1 \
			own "$probe" only - sh -c "${what#* }"'
			exec bwrap --ro-bind / / --bind-fd 3 /mnt true'
		is "$caller: ... is told" "$said" "bwrap: Can't find source fd 3: No such file or directory"
	done
	# What is below a directory that is closed now is still open (#569).
	own mkdir -p closed/here
	own sh -c 'echo in >closed/here/file'
	if [ "$caller" = user ]; then
		is "$caller: a relative source below what is closed (#569)" \
			"$(own "$probe" only - sh -c '
			cd closed/here && chmod 0 .. && bwrap --ro-bind / / \
			--bind . /mnt --chdir /mnt cat file; chmod 755 ..' 2>&1)" in
	fi
	# By a descriptor it is not: the kernel mounts no other namespace's.
	if [ "$caller" = user ]; then
		is "$caller: ... nor by --bind-fd" "$(own "$probe" only - sh -c '
			exec 3<closed/here && chmod 0 closed
			bwrap --ro-bind / / --bind-fd 3 /mnt true; chmod 755 closed' 2>&1)" \
			"bwrap: Can't find source fd 3: No such file or directory"
	fi
	own rm -rf closed
	own mkdir far
	own unshare -Urm sh -c 'mount -t tmpfs none far; echo far >far/file
		echo $$ >"$1.new"; mv "$1.new" "$1.pid"
		until [ -e "$1.go" ]; do sleep 0.05; done' _ "$T/far" &
	eventually "$caller: another mount namespace" test -e "$T/far.pid"
	bad "--bind-fd of another mount namespace" "Can't find source fd 3: *" \
		"3=/proc/$(pid_of far)/root$P/far" --ro-bind / / --bind-fd 3 /mnt touch ran
	let_go far; wait $!
	own rmdir far
}

links() {
	own mkdir -p real/sub other
	own sh -c 'echo real >real/file; echo other >other/file'
	own ln -s "$P/real" abs
	own ln -s real rel
	own ln -s "$P/made" dangling
	for link in abs rel; do
		is "$caller: a destination is a link: $link (#195)" \
			"$(run --bind / / --bind other "$P/$link" cat real/file)" other
		is "$caller: ... or below one" \
			"$(run --bind / / --bind other "$P/$link/sub" cat real/sub/file)" other
		bad "... which --strict-destinations refuses: $link" "*$P/$link: *" - \
			--bind / / --strict-destinations --bind other "$P/$link" true
		is "$caller: ... but not below one" "$(run --bind / / \
			--strict-destinations --bind other "$P/$link/sub" \
			cat real/sub/file)" other
	done
	for link in ../run /run; do
		is "$caller: /var/run to $link (#390)" "$(fd 3=/dev/null --ro-bind / / \
			--tmpfs /var --tmpfs /run --symlink $link /var/run \
			--bind other /var/run/y --ro-bind-data 3 /var/run/z \
			cat /run/y/file)" other
	done
	is "$caller: a link to nothing is made where it leads (#801)" "$(run \
		--ro-bind /usr /usr --symlink usr/lib /lib --symlink usr/lib64 /lib64 \
		--symlink /there /here --bind other /here \
		/usr/bin/cat /there/file)" other
	is "$caller: nothing of it is left" "$(own ls)" "$(printf '%s\n' abs dangling other real rel)"
	own rm -rf abs rel dangling real other
}

demand_paths() { destinations; sources; links; }
document_paths() {
	documented "nothing leads out" "They are resolved inside of the new root. Nothing leads out of it, neither"
	documented "--bind-fd by its name" "It must have a name by which the caller can reach it."
	documented "links work" "links that lead somewhere inside work, absolute ones too."
}
