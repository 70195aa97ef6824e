#!/bin/sh
# The main job: a command runs, sees what the profile says, and its status comes
# back.
. "${srcdir:?}"/tests/lib.sh
need_sandbox

for caller in $callers; do
	run() { as "$caller" "$oc" run --stdin null --project . "$@"; }
	p=$(project "$caller")
	mkdir -p "$p/.git" "$p/.claude" "$p/sub"
	echo content >"$p/file"
	echo guarded >"$p/.git/config"
	[ "$(id -u)" = 0 ] && [ "$caller" = user ] && chown -R $user_id:$user_id "$p"

	status "$caller: true" 0 run -- true
	status "$caller: the command's own status" 77 run -- sh -c 'exit 77'
	status "$caller: death by a signal is 128+n" 137 run -- sh -c 'kill -9 $$'
	status "$caller: a command that is not there" 127 run -- no-such-command
	status "$caller: a directory" 126 run -- /usr
	status "$caller: not executable" 126 run -- ./file
	printf '#!/no/such/interpreter\n' >"$p/script"; chmod 755 "$p/script"
	status "$caller: an interpreter that is not there" 126 run -- ./script
	like "$caller: ... is told as such" "$said" "*script: interpreter*hint: the file is there*"

	is "$caller: starts in the project" "$(run -- pwd)" "$p"
	is "$caller: starts where asked" "$(run --cwd sub -- pwd)" "$p/sub"
	is "$caller: starts where the caller is, in a root" \
		"$(as "$caller" sh -c "cd sub && exec $oc run --stdin null --project .. -- pwd")" "$p/sub"
	is "$caller: reads the project" "$(run -- cat file)" content
	status "$caller: writes the project" 0 run -- sh -c 'echo new >made && mkdir d && mv made d/'
	is "$caller: ... and the host sees it" "$(cat "$p/d/made")" new
	is "$caller: ... as the project's owner's" "$(stat -c %u:%g "$p/d/made")" "$(stat -c %u:%g "$p")"
	for name in .git .claude; do
		fails "$caller: $name cannot be written" run -- sh -c "echo x 2>/dev/null >$name/new"
		fails "$caller: $name cannot be moved away" run -- mv $name moved
	done
	is "$caller: .git can be read" "$(run -- cat .git/config)" guarded
	fails "$caller: the root cannot be written" run -- sh -c 'echo x >/new'
	fails "$caller: /usr cannot be written" run -- sh -c 'echo x >/usr/new'
	fails "$caller: /etc cannot be written" run -- sh -c 'echo x >/etc/new'
	status "$caller: private directories can" 0 run -- sh -c \
		'for d in /tmp /var/tmp /run /dev/shm "$HOME" "$XDG_CACHE_HOME" "$XDG_RUNTIME_DIR"; do echo x >"$d/x" || exit 1; done'
	is "$caller: nothing of it lasts" "$(run -- sh -c 'ls -A /tmp /var/tmp /dev/shm | grep -vE ":|^nsrun-test" | grep .')" ""
	is "$caller: the top of the tree" "$(run -- sh -c 'cd / && echo *' | tr ' ' '\n' | grep -vE '^lib(32|x32|64)?$|^nix$' | tr '\n' ' ')" \
		"bin dev etc proc run sbin tmp usr var "
	[ -e /bin/bash ] && status "$caller: no /sys /home of others /root /srv" 0 run -- sh -c \
		'! test -e /sys && ! test -e /srv && ! test -e /boot && ! test -e /opt'
	is "$caller: /dev" "$(run -- ls /dev | tr '\n' ' ')" \
		"fd full null ptmx pts random shm stderr stdin stdout tty urandom zero "

	is "$caller: awk works" "$(run -- awk 'BEGIN { print 6 * 7 }')" 42
	is "$caller: which works" "$(run -- which sh)" /usr/bin/sh
	is "$caller: the command has a name" "$(run -- id -un)" "$(run -- sh -c 'echo $USER')"
	like "$caller: it is not root, or said to be" "$(as "$caller" "$oc" explain --json --project . -- true | grep -o '"root_kept": true')$(run -- sh -c 'test "$(id -u)" != 0 && echo yes')" '*?'
	is "$caller: the host's name is not shown" "$(run -- uname -n)" sandbox
	is "$caller: localhost resolves" "$(run -- sh -c 'getent hosts localhost | grep -c .')" 1
	is "$caller: only its own processes" "$(run -- sh -c 'echo /proc/[0-9]*')" "/proc/1 /proc/2"

	# Names of any bytes.
	odd="$p/$(printf 'n\377\nx y')"
	mkdir "$odd" && echo odd >"$odd/f" && chown -R "$(stat -c %u:%g "$p")" "$odd"
	is "$caller: a project's name may hold any byte" \
		"$(as "$caller" "$oc" run --stdin null --project "$odd" -- cat f)" odd

	# More roots; the deeper grant holds.
	mkdir -p "$work/$caller/ro/rw" "$work/$caller/rw"
	echo r >"$work/$caller/ro/f"
	chown -R "$(stat -c %u:%g "$p")" "$work/$caller/ro" "$work/$caller/rw"
	more="--ro $work/$caller/ro --rw $work/$caller/rw --rw $work/$caller/ro/rw"
	fails "$caller: --ro is read-only" run $more -- sh -c "echo x >$work/$caller/ro/f"
	status "$caller: --rw is writable" 0 run $more -- sh -c "echo x >$work/$caller/rw/f"
	status "$caller: --rw below --ro is writable" 0 run $more -- sh -c "echo x >$work/$caller/ro/rw/f"
	status "$caller: the same place both ways is refused" 125 run --ro "$work/$caller/rw" --rw "$work/$caller/rw" -- true
	is "$caller: the read-only file is unchanged" "$(cat "$work/$caller/ro/f")" r

	# Nothing is left, and the caller's descriptors do not enter.
	is "$caller: descriptors 0 to 2 only" "$(run -- sh -c 'ls /proc/self/fd | head -n 3 | tr "\n" " "' 7</dev/null 9</etc/passwd)" "0 1 2 "
	is "$caller: the caller's descriptors stay out" "$(run -- sh -c 'ls -l /proc/$$/fd | grep -c passwd' 9</etc/passwd)" 0
done
done_testing
