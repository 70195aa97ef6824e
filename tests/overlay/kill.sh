#!/bin/sh
# Killed in the middle of apply, at any moment: each name is the old or the new,
# never torn, and the next apply finishes. NSRUN_OVERLAY_FILES=100000 for more.
. "${srcdir:?}"/tests/lib.sh
. "$srcdir"/tests/overlay/lib.sh
need_sandbox
need_overlay

n=${NSRUN_OVERLAY_FILES:-5000}

# Files of one line, 100 a directory; the new ones are longer than a block.
fill() {
	fresh "$1"
	as "$1" awk -v n=$n 'BEGIN {
		for (i = 0; i < n; i += 100) system("mkdir d" i / 100)
		for (i = 0; i < n; i++) {
			f = "d" int(i / 100) "/" i
			print "old " i >f; close(f)
		}
		system("mkdir gone; for i in 1 2 3; do echo g >gone/$i; done")
		system("mkdir turns; echo t >turns/t; echo t >turned; ln -s a link")
	}'
}
change() {
	run "$1" --overlay-project --limit cpu=300 -- awk -v n=$n 'BEGIN {
		pad = sprintf("%6000s", "")
		for (i = 0; i < n; i++) {
			f = "d" int(i / 100) "/" i
			print "new " i pad >f; close(f)
		}
		system("rm -r gone turns; echo now >turns; rm turned link")
		system("mkdir turned; echo in >turned/in; echo l >link")
	}'
}
# Every file is whole: what it was, or what it becomes. Prints how many are new.
whole() {
	(cd "$P" && find d* -type f ! -name '.oc-nsrun*' -print0 | xargs -0 awk '
		FNR == 1 { n++; i = FILENAME; sub(/.*\//, "", i)
			if ($2 != i || ($1 != "old" && $1 != "new") ||
			    length($0) != length($1 " " i) + ($1 == "new" ? 6000 : 0))
				print "torn: " FILENAME
			if ($1 == "new") k++ }
		FNR > 1 { print "torn: " FILENAME }
		END { print n, k + 0 }') | awk '
		/^torn/ { print; next } { n += $1; k += $2 }
		END { print n, k }'
}
# Start WORD, and print its pid when it has begun to write, or is done.
start() {
	rm -f "$work/pid"
	as "$1" sh -c 'echo $$ >"$1.new" && mv "$1.new" "$1"; shift
		exec "$@"' - "$S/pid" "$oc" "$2" --state-dir "$S" >/dev/null 2>&1 &
	shell=$!
	for _ in $(seq 1000); do
		[ -s "$S/pid" ] && break
		sleep 0.01
	done
	pid=$(cat "$S/pid")
	rm -f "$S/pid"
}
# Killed so long after the first note; true: it was not done yet.
kill_after() {
	start "$1" apply
	for _ in $(seq 1000); do
		[ -e "$(echo "$S"/overlays/*/pending)" ] && break
		kill -0 $pid 2>/dev/null || break
		sleep 0.005
	done
	sleep "$2"
	kill -9 $pid 2>/dev/null
	wait $shell 2>/dev/null
	[ $? -ge 128 ]
}

killed() {
	caller=$1
	fill $caller
	ok "$caller: $n files are changed" change $caller
	is "$caller: none on the host yet" "$(whole)" "$n 0"
	torn='' killed=0 partly=0
	for after in 0 0 0.01 0.02 0.03 0.05 0.05 0.08 0.1 0.2; do
		kill_after $caller $after && killed=$((killed + 1))
		now=$(whole)
		case $now in
		"$n 0" | "$n $n") ;;
		"$n "*) partly=$((partly + 1)) ;;
		*) torn="$torn $now" ;;
		esac
		[ -n "$(ls -A "$S"/overlays)" ] || break
	done
	is "$caller: killed $killed times, $partly in the middle: none is torn" \
		"$torn" ""
	[ $killed -gt 0 ] && pass "$caller: it was killed" ||
		fail "$caller: it was killed" "never"
	if [ -n "$(ls -A "$S"/overlays)" ]; then
		status "$caller: the next finishes" 0 cmd $caller apply
		is "$caller: and refuses nothing" "$said" ""
	else
		skip "$caller: the next finishes" "it had finished"
	fi
	is "$caller: all are new" "$(whole)" "$n $n"
	is "$caller: deleted, and turned into others" "$(cd "$P" && ls gone 2>&1 |
		wc -l; cat turns turned/in link)" "1
now
in
l"
	is "$caller: no name of ours is left" "$(find "$P" -name '.oc-nsrun*')" ""
	is "$caller: nor an overlay" "$(ls -A "$S"/overlays)" ""
}

# At each system call that changes something, one after the other.
prepare() {
	fresh $1
	as $1 sh -c 'echo o >f; mkdir d t; echo x >d/x; echo t >t/t; ln -s a l'
	run $1 --overlay-project -- sh -c 'echo new >f; rm -r d; mkdir n
		echo n >n/n; ln -sf b l; rm -r t; echo was >t; mkdir shut
		chmod 500 shut'
}
at_each_call() {
	caller=$1
	why=$(strace -o /dev/null true 2>&1) || { skip "$caller: at each call" \
		"strace: $why"; return; }
	bad='' deaths=0
	for call in openat renameat renameat2 unlinkat mkdirat symlinkat fchmod \
		sendfile syncfs; do
		prepare $caller
		k=1
		while as $caller strace -o /dev/null -e trace=$call \
			-e inject=$call:signal=KILL:when=$k "$oc" apply \
			--state-dir "$S" >/dev/null 2>&1
			[ $? -ge 128 ]
		do
			case $(cat "$P"/f) in o | new) ;; *) bad="$bad $call:$k:f" ;;
			esac
			case $(readlink "$P"/l) in a | b) ;;
			*) bad="$bad $call:$k:l" ;; esac
			case $(cat "$P"/n/n 2>/dev/null) in "" | n) ;;
			*) bad="$bad $call:$k:n" ;; esac
			deaths=$((deaths + 1)) k=$((k + 1))
			# What opens is called often, and each time from the start.
			[ $k -gt 40 ] && k=$((k + 7))
			[ $k -gt 200 ] && break
		done
		[ -z "$(ls -A "$S"/overlays)" ] || cmd $caller apply
		now=$(cd "$P" && cat f n/n t; readlink l; ls -A; stat -c %a shut)
		[ "$now" = "new
n
was
b
f
l
n
shut
t
500" ] || bad="$bad $call: $now"
		[ -z "$(ls -A "$S"/overlays)" ] || bad="$bad $call: overlay"
	done
	is "$caller: killed at $deaths calls: old or new, and the next finishes" \
		"$bad" ""
	[ $deaths -gt 0 ] && pass "$caller: at each call: it was killed" ||
		fail "$caller: at each call: it was killed" "never"
}

# Killed while it discards: what is left is no layer any more.
discards() {
	caller=$1
	fill $caller
	change $caller
	before=$(whole)
	start $caller discard
	sleep 0.02
	kill -9 $pid 2>/dev/null
	wait $shell 2>/dev/null
	cmd $caller apply >/dev/null 2>&1
	case "$(whole)" in
	"$before" | "$n $n") pass "$caller: discard is killed: all or nothing" ;;
	*) fail "$caller: discard is killed: all or nothing" "$(whole)" ;;
	esac
}

for caller in $callers; do
	killed $caller
	at_each_call $caller
	discards $caller
done
done_testing
