# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh disable=SC2154,SC2086,SC2016
# Terminals: what can be typed into, who is stopped, who hears of a size. What
# is expected is never what was sent, since the terminal echoes.

# terminal WHAT CMD... <STEPS
terminal() {
	what=$1; shift
	said=$(as "$caller" "$probe" only - timeout -k 5 60 "$aid" pty "$@")
	case $said in
	*done) pass "$caller: $what" ;;
	*) fail "$caller: $what" "$said" ;;
	esac
}
guest="--bind / / --dev /dev --proc /proc --unshare-pid"

typing() {
	# CVE-2017-5226, CVE-2019-10063, CVE-2023-28100: under every number, and
	# with more bits than the kernel looks at.
	four='EPERM EPERM EPERM EPERM'
	[ "$(uname -m)" = x86_64 ] || four='EPERM EPERM'
	for how in in-place --unshare-pid --as-pid-1; do
		own rm -f typed
		terminal "nothing is typed: $how" sh -c "
			bwrap --bind / / $(mode $how) aid type
			read -r line; echo \"((\$line))\"" <<-EOT
			expect TIOCSTI $four TIOCLINUX $four else OK OK.
			send user\n
			expect ((user))
			end
		EOT
		ok "$caller: ... and nothing executed" gone "$P/typed"
	done
	for how in '--new-session' '--new-session --unshare-pid'; do
		terminal "nor with $how" sh -c "bwrap --bind / / $how aid type; sh -i" <<-'EOT'
			expect typed:
			expect .
			send echo e$((1))nd; exit\n
			expect e1nd
			end
		EOT
		ok "$caller: ... and nothing executed" gone "$P/typed"
	done
	# What it types it types to itself.
	terminal "nor with --pty" sh -c "bwrap $guest --pty aid type; echo o\$((1))t
		sh -i" <<-'EOT'
		expect typed:
		expect o1t
		send echo e$((1))nd; exit\n
		expect e1nd
		end
	EOT
	ok "$caller: ... and nothing executed" gone "$P/typed"
	# Only then does that say anything.
	if [ "$(cat /proc/sys/dev/tty/legacy_tiocsti 2>/dev/null || echo 1)" = 1 ]; then
		terminal "outside it is" sh -c 'aid type; sh -i' <<-'EOT'
			expect typed: TIOCSTI OK
			expect .
			send echo e$((1))nd; exit\n
			expect e1nd
			end
		EOT
		ok "$caller: ... and executed" test -e "$P/typed"
	fi
	own rm -f typed
}

jobs() {
	terminal "--pty: job control (#148)" bwrap $guest --pty sh -i <<-'EOT'
		send echo r$((1))dy\n
		expect r1dy
		send sh -c 'echo r$((2))n; exec sleep 77'\n
		expect r2n
		send \26
		expect topped
		send echo st$((1))ll\n
		expect st1ll
		send kill -9 %1\n
		send exit 3\n
		send exit 3\n
		end
	EOT
	like "$caller: ... and the status" "$said" '*status 3*'
	winch='trap "echo w\$((1))nched; stty size; exit 4" WINCH; echo r$((1))dy
		while :; do sleep 0.02; done'
	for how in --pty '' --forward-signals '--pty --forward-signals'; do
		terminal "SIGWINCH ${how:-alone}" bwrap $guest $how sh -c "$winch" <<-'EOT'
			expect r1dy
			size 101
			expect w1nched
			expect 24 101
			end
		EOT
		like "$caller: ... and the status" "$said" '*status 4*'
	done
	trapped='trap "exit 3" INT; echo r$((1))dy; while :; do sleep 0.02; done'
	for how in --pty --forward-signals; do
		terminal "Ctrl-C is the command's: $how (#369)" sh -c "trap : INT
			bwrap $guest $how sh -c '$trapped'; echo st=\$?" <<-'EOT'
			expect r1dy
			send \3
			expect st=3
			end
		EOT
	done
	for how in '' --pty; do
		terminal "a script goes on after a shell (#744): ${how:-alone}" sh -c "
			bwrap $guest $how bash --norc -i; echo o\$((1))t
			read -r line; echo \"((\$line))\"" <<-'EOT'
			send echo r$((1))dy\n
			expect r1dy
			send sleep 0.01\n
			send exit\n
			expect o1t
			send later\n
			expect ((later))
			end
		EOT
	done
	terminal "the terminal is as it was" sh -c "stty -g >'$P/modes'
		bwrap $guest --pty stty raw -echo
		stty -g | cmp - '$P/modes' && echo s\$((1))me" <<-'EOT'
		expect s1me
		end
	EOT
	own rm -f modes
	# Without a terminal of the caller's there is nothing to connect.
	is "$caller: --pty on pipes" "$(echo in | run $guest --pty cat)" in
}

demand_tty() { typing; jobs; }
document_tty() {
	documented "nothing is typed" "a filter refuses the requests that type into it, TIOCSTI and TIOCLINUX , for programs of every architecture"
	documented "--new-session" "A shell then has no job control."
	documented "--pty" "Job control works, the size follows, and nothing inside can type into the caller's terminal."
}
