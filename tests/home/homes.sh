#!/bin/sh
# --home: three of them, all at the path that HOME has outside; what is kept,
# for how long, and what is never shown.
. "${srcdir:?}"/tests/lib.sh
. "$srcdir"/tests/home/home.sh
need_sandbox

list() { as "$caller" "$oc" home --state-dir "$state" list | tr '\n' ' '; }
items() { find "$state" -mindepth 2 -maxdepth 2 2>/dev/null | wc -l; }

for caller in $callers; do
	furnish "$caller"
	before=$(tree "$h")

	# What is the same in all of them.
	for kind in tmpfs private private=same overlay overlay="$h/plain" "overlay --home-keep same"; do
		# shellcheck disable=SC2086
		in_home() { run --home $kind -- "$@"; }
		is "$caller: $kind: HOME" "$(in_home sh -c 'echo "$HOME"; cd && pwd -P')" "$h
$h"
		status "$caller: $kind: anything can be written" 0 in_home sh -c 'set -e; cd
			echo x >.claude.json; echo y >.claude.json.tmp; mv .claude.json.tmp .claude.json
			mkdir -p .config/x .cache/x .local/share/x .local/state/x .new/y; echo z >.new/y/z; rm -r .new
			set -C; echo l >lock; rm lock; ln -s nowhere l; [ -L l ]; rm l
			mkfifo f; rm f; mkdir d; chmod 500 d; rmdir d; chmod 700 .'
		is "$caller: $kind: its mode" "$(in_home sh -c 'stat -c %a "$XDG_CONFIG_HOME" >/dev/null && test -w ~ && echo ok')" ok
		status "$caller: $kind: no set-user-ID, no device" 0 in_home sh -c \
			'findmnt -no OPTIONS -T ~ 2>/dev/null | grep nosuid | grep -q nodev || ! command -v findmnt'
		is "$caller: $kind: the project is in it" "$(in_home sh -c 'echo p >"$1"/made && cat ~/project/made' sh "$p")" p
		is "$caller: $kind: the host's home is as it was" "$(tree "$h")" "$before"
	done
	is "$caller: in overlay=DIR the directory stands at HOME" "$(run --home overlay="$h/plain" -- cat "$h/deep/file")" data

	# What is there, and what stays.
	is "$caller: tmpfs: is empty" "$(run --home tmpfs -- ls -A "$h" | tr '\n' ' ')" ".cache .config .local project "
	run --home tmpfs -- sh -c 'echo x >~/x'
	fails "$caller: tmpfs: nothing of it lasts" run --home tmpfs -- cat "$h/x"
	is "$caller: private: is empty" "$(run --home private -- ls -A "$h" | tr '\n' ' ')" ".cache .config .local project "
	run --home private -- sh -c 'echo x >~/x'
	fails "$caller: private: nothing of it lasts" run --home private -- cat "$h/x"
	is "$caller: private=NAME: is empty" "$(run --home private=a -- ls -A "$h" | tr '\n' ' ')" ".cache .config .local project "
	run --home private=a -- sh -c 'echo x >~/x; mkdir -p ~/d/e; chmod 0 ~/d/e; chmod 0 ~/d'
	is "$caller: private=NAME: is kept" "$(run --home private=a -- cat "$h/x")" x
	fails "$caller: private=NAME: is another's" run --home private=b -- cat "$h/x"
	is "$caller: overlay: shows the real one" "$(run --home overlay -- cat "$h/plain/deep/file" "$h/link/deep/file")" "data
data"
	is "$caller: overlay: a mode is what it was" "$(run --home overlay -- stat -c %a "$h/.claude" "$h/.claude.json" | tr '\n' ' ')" "700 600 "
	run --home overlay -- sh -c 'echo x >~/x; rm -r ~/plain'
	is "$caller: overlay: nothing of it lasts" "$(run --home overlay -- sh -c 'cat ~/plain/deep/file; cat ~/x 2>&1')" "data
cat: $h/x: No such file or directory"
	run --home overlay --home-keep o -- sh -c 'echo x >~/x; rm -r ~/plain; echo n >~/.config/tool/rc; mkdir ~/plain; echo p >~/plain/p'
	is "$caller: --home-keep: is kept" "$(run --home overlay --home-keep o -- sh -c 'cat ~/x ~/.config/tool/rc; ls -A ~/plain' | tr '\n' ' ')" "x n p "
	status "$caller: ... over another directory" 125 run --home overlay="$h/plain" --home-keep o -- true
	like "$caller: ... says why" "$said" "*home o -> $h: another directory is beneath what is kept under this name*"
	is "$caller: the host's home is still as it was" "$(tree "$h")" "$before"

	# A root that the layer has at another place is not shown there, past its masks.
	as "$caller" sh -c 'mkdir -p "$1/layer/root/in" "$1/layer/own" && echo s >"$1/layer/root/in/secret" && echo o >"$1/layer/own/o"' sh "$work/$caller"
	for grant in --rw --ro; do
		is "$caller: overlay=DIR: a root in DIR, $grant" "$(run "$grant" "$work/$caller/layer/root" --mask "$work/$caller/layer/root/in/secret" \
			--home overlay="$work/$caller/layer" -- sh -c 'cat "$1/layer/root/in/secret" ~/root/in/secret 2>/dev/null; ls "$1/layer/root" ~/own' sh "$work/$caller" | tr '\n' ' ')" \
			"$h/own: o  $work/$caller/layer/root: in "
	done
	for layer in "$work/$caller/layer" "$work/$caller/layer/own"; do
		status "$caller: overlay=DIR: a DIR in a root" 125 run --rw "$work/$caller/layer" --home overlay="$layer" -- true
		like "$caller: ... says so" "$said" "*home $layer: is in a granted root, whose masks it would not have"
	done
	as "$caller" rm -r "$work/$caller/layer"

	# On the host: private, named, removed.
	is "$caller: the state directory is closed" "$(find "$state" -maxdepth 2 -printf '%m ' | tr -s ' ')" "700 700 700 700 700 700 700 700 "
	is "$caller: home list" "$(list)" "private=a private=b private=same overlay=o overlay=same "
	is "$caller: only what is kept is there" "$(items)" 5
	run --home private=a -- sh -c 'touch ~/ready; while [ -e ~/ready ]; do sleep 0.1; done' &
	eventually "$caller: a launch uses it" test -e "$state/home/a/home/ready"
	status "$caller: home release of one in use" 125 as "$caller" "$oc" home --state-dir "$state" release private=a
	like "$caller: ... says so" "$said" "*state $state/home/a: lock: *hint: another launch uses it*"
	is "$caller: ... it is shared" "$(run --home private=a -- sh -c 'ls ~/ready; rm ~/ready')" "$h/ready"
	wait
	ln -s "$h" "$state/home/a/home/to-home" && as "$caller" true
	status "$caller: home release" 0 as "$caller" "$oc" home --state-dir="$state" release private=a private=b overlay=o
	is "$caller: ... they are gone" "$(list)" "private=same overlay=same "
	status "$caller: home release of none" 125 as "$caller" "$oc" home --state-dir "$state" release private=a
	is "$caller: ... nothing was followed" "$(tree "$h")" "$before"
	as "$caller" "$oc" home --state-dir "$state" release private=same overlay=same

	# A launch that is killed leaves one, and the next removes it.
	run --home private -- sh -c 'echo x >~/x; sleep 60' &
	eventually "$caller: one of a launch" sh -c "ls $state/home/.[0-9a-f]*/home/x"
	pid=$(running "$oc run *--home private -- sh -c echo x" | head -n 1)
	kill -KILL "$pid"; wait
	is "$caller: ... is left by a kill" "$(items)" 1
	run --home private -- true
	is "$caller: ... and swept by the next" "$(items)" 0

	# The default place.
	if [ "$caller" = user ]; then
		as "$caller" "$oc" run --stdin null --home private=d -- true
		ok "$caller: the usual place" test -d "$h/.local/state/oc-nsrun/home/d/home"
		fails "$caller: overlay: the state directory is not shown" run --home overlay -- ls "$h/.local/state/oc-nsrun"
		status "$caller: ... its part of the layer neither" 0 run --home overlay -- sh -c '[ -z "$(find ~ -name oc-nsrun)" ]'
		as "$caller" env XDG_STATE_HOME="$work/user/xdg" "$oc" run --stdin null --home private=d -- true
		ok "$caller: XDG_STATE_HOME" test -d "$work/user/xdg/oc-nsrun/home/d/home"
		rm -rf "$h/.local/state"
		before=$(tree "$h")
	fi

	# An overlay home shows no credentials, whatever name they have.
	for name in .ssh .ssh/id .config/gh .config/gh/hosts.yml .claude/.credentials.json .ocp/keys .ocp/keys/two.json \
		.netrc dotfiles/netrc .config/git/credentials dotfiles/git/credentials; do
		fails "$caller: overlay: not shown: $name" run --home overlay -- cat "$h/$name"
		like "$caller: ... it looks absent" "$said" "*No such file*"
	done
	is "$caller: overlay: no search finds one" "$(run --home overlay -- sh -c 'grep -rlE "private-key|gh-token|netrc|secret" ~ /proc/self/root"$HOME" 2>/dev/null')" ""
	is "$caller: overlay: what is beside them is" "$(run --home overlay -- sh -c 'cat ~/.config/tool/rc')" t
	is "$caller: overlay: such a name can be made anew" "$(run --home overlay -- sh -c 'mkdir ~/.ssh && echo n >~/.ssh/n && ls -A ~/.ssh')" n
	status "$caller: overlay: no renaming shows it" 0 run --home overlay -- sh -c 'cd
		mv .config c2 && ! grep -r gh-token c2 && mv .ocp o2 && ! ls o2/keys && mv c2 .config && ! cat .config/gh/hosts.yml'
	fails "$caller: overlay: --mask hides more" run --home overlay --mask "$h/plain/deep" -- ls "$h/plain/deep"
	fails "$caller: ... through a link, too" run --home overlay --mask "$h/plain/deep" -- ls "$h/link/deep"
	fails "$caller: ... of a link, what it leads to" run --home overlay --mask "$h/link" -- ls "$h/plain"
	status "$caller: ... and a mask of the project is one" 0 run --home overlay --mask secret -- sh -c '! cat ~/project/secret'
	run --home overlay --home-keep m -- sh -c 'echo x >~/plain/deep/file'
	status "$caller: kept: a mask that comes too late" 125 run --home overlay --home-keep m --mask "$h/plain/deep" -- true
	like "$caller: ... says so" "$said" "*plain/deep: is to be hidden, and was written to in an earlier launch*"
	fails "$caller: kept: a file that was written is the command's own, hidden or not" \
		run --home overlay --home-keep m --mask "$h/.claude.json" -- grep startups "$h/.claude.json"
	as "$caller" "$oc" home --state-dir "$state" release overlay=m

	# Nobody listens at what stands there: a socket or a FIFO of the host's is only a name.
	if as "$caller" env PATH=/usr/bin:/bin python3 -c 'import socket' 2>/dev/null; then
		as "$caller" env PATH=/usr/bin:/bin python3 -c 'import os, socket, time
os.chdir(os.environ["HOME"] + "/plain")
s = socket.socket(socket.AF_UNIX); s.bind("socket"); s.listen(); os.mkfifo("fifo")
f = os.open("fifo", os.O_RDONLY | os.O_NONBLOCK)
open("ready", "w").close()
while os.path.exists("ready"): time.sleep(0.1)
print(os.read(f, 100))' >"$work/heard" &
		eventually "$caller: a host that listens" test -e "$h/plain/ready"
		fails "$caller: overlay: a socket of the host's" run --home overlay --network isolated -- \
			python3 -c 'import os, socket; socket.socket(socket.AF_UNIX).connect(os.environ["HOME"] + "/plain/socket")'
		like "$caller: ... refuses" "$said" "*ConnectionRefusedError*"
		fails "$caller: overlay: a FIFO of the host's has no reader" run --home overlay -- \
			python3 -c 'import os; os.open(os.environ["HOME"] + "/plain/fifo", os.O_WRONLY | os.O_NONBLOCK)'
		like "$caller: ... says so" "$said" "*No such device or address*"
		rm "$h/plain/ready"; wait
		is "$caller: ... and it heard nothing" "$(cat "$work/heard")" "b''"
		rm "$h/plain/socket" "$h/plain/fifo"; touch -r "$h/.claude.json" "$h/plain"
		before=$(tree "$h")
	else
		skip "$caller: a host that listens" "no python3"
	fi

	# Toolchains, where they are.
	for kind in tmpfs private private=t overlay; do
		is "$caller: $kind: toolchains are there" "$(run --home $kind -- sh -c 'exec "$HOME"/.local/bin/tool')" tool
	done
	run --home private=t -- sh -c 'mv ~/.local ~/l2; ln -s /etc ~/.local'
	status "$caller: private: a link in a toolchain's place" 125 run --home private=t -- true
	like "$caller: ... is not followed" "$said" "*$h -> .local: something that was left in the kept home is in the way*"
	as "$caller" "$oc" home --state-dir "$state" release private=t

	# Bad input.
	for bad in '' = tmpfs=x private= private=.. private=a/b private=.x private=-x overlay= disk "private=$(printf 'a\tb')"; do
		status "$caller: --home '$bad'" 125 run --home "$bad" -- true
		like "$caller: ... says why" "$said" "oc-nsrun: option *"
	done
	status "$caller: two homes" 125 run --home tmpfs --home private -- true
	status "$caller: two names" 125 run --home private=a --home private=b -- true
	status "$caller: --home-keep alone" 125 run --home-keep x -- true
	status "$caller: --home-keep of a private one" 125 run --home private --home-keep x -- true
	status "$caller: --home-keep of a bad name" 125 run --home overlay --home-keep ../x -- true
	status "$caller: a layer that is not there" 125 run --home overlay="$h/none" -- true
	like "$caller: ... says so" "$said" "*home $h/none: realpath: No such file*"
	status "$caller: a layer that is a file" 125 run --home overlay="$h/.claude.json" -- true
	for dir in / /usr /etc /proc /dev /home; do
		status "$caller: a layer that is too broad: $dir" 125 run --home overlay=$dir -- true
	done
	status "$caller: a state directory in a root" 125 as "$caller" "$oc" run --project . --home private --state-dir "$p/state" -- true
	like "$caller: ... says so" "$said" "*the state directory is in a granted root*"
	for grant in "--project ." "--ro $p/state" "--rw $p/state/home"; do
		# shellcheck disable=SC2086
		status "$caller: ... where nothing is kept: $grant" 125 as "$caller" "$oc" run $grant --state-dir "$p/state" -- true
		like "$caller: ... says so" "$said" "*the state directory is in a granted root*"
	done
	rmdir "$p/state/home" "$p/state"
	status "$caller: a relative state directory" 125 run --home private --state-dir state -- true
	as "$caller" mkdir -m 755 "$work/$caller/open"
	status "$caller: an open state directory" 125 run --home private --state-dir "$work/$caller/open" -- true
	like "$caller: ... says what to do" "$said" "*is open to others: chmod 700 it"
	ln -s "$state" "$work/$caller/link"
	status "$caller: a link for a state directory" 125 run --home private --state-dir "$work/$caller/link" -- true
	for bad in '' 'show' 'list x' 'release' 'release x' 'release private=../x' '--bad list' '--state-dir'; do
		# shellcheck disable=SC2086
		status "$caller: home $bad" 125 as "$caller" "$oc" home $bad
	done

	status "$caller: home list of nothing" 0 as "$caller" "$oc" home --state-dir "$work/$caller/none" list
	fails "$caller: ... makes nothing" test -e "$work/$caller/none"

	# A kernel that cannot: the reason, and no other home in its place.
	if command -v strace >/dev/null && as "$caller" strace -f -o /dev/null -e inject=mount:error=ENODEV true 2>/dev/null; then
		# A leak checker does not work under a tracer.
		cannot() { as "$caller" env ASAN_OPTIONS=detect_leaks=0 strace -f -o /dev/null -e inject=mount:error="$1" "$oc" run --stdin null --home overlay -- true; }
		for error in ENODEV EPERM EINVAL ENOMEM; do
			status "$caller: an overlay that the kernel refuses: $error" 125 cannot $error
			like "$caller: ... says so" "$said" "oc-nsrun: mount $h: overlay: *"
		done
		like "$caller: ... what to do about it" "$(cannot ENODEV 2>&1)" "*hint: *modprobe overlay"
	else
		skip "$caller: an overlay that the kernel refuses" "strace is not here, or may not"
	fi

	# What is written to a kept home counts; what is in memory has its own bound.
	for kind in private private=w "overlay --home-keep w"; do
		# shellcheck disable=SC2086
		fails "$caller: $kind: --max-write" run --max-write 4M --home $kind -- sh -c \
			'for i in $(seq 300); do head -c 1M /dev/zero >>~/"big$((i % 8))"; sleep 0.1; done; echo all'
		unlike "$caller: ... ends it" "$said" "*all*"
		# shellcheck disable=SC2086
		status "$caller: $kind: less is fine" 0 run --max-write 64M --home $kind -- sh -c 'head -c 1M /dev/zero >~/small; sleep 0.3'
	done
	as "$caller" "$oc" home --state-dir "$state" release private=w overlay=w

	# In a plan.
	like "$caller: explain: private" "$(as "$caller" "$oc" explain --home private=z --state-dir "$work/none" -- true)" \
		"*rw *$work/none/home/z/home*"
	fails "$caller: ... makes nothing" test -e "$work/none"
	like "$caller: explain: overlay" "$(as "$caller" "$oc" explain --home overlay --state-dir "$state" -- true)" \
		"*rw *over $h, thrown away, * names hidden*"
	like "$caller: explain --json" "$(as "$caller" "$oc" explain --json --home overlay --state-dir "$state" -- true)" \
		'*"layers":*"'"$h"'"*"hidden":*".ssh"*'
	is "$caller: the host's home is as it was, in the end" "$(tree "$h")" "$before"
done

if [ "$(id -u)" = 0 ]; then
	caller=root
	furnish root
	chmod 755 "$h"
	status "root: another's state directory" 125 run --home private --state-dir "$work/user/state" -- true
	like "root: ... says so" "$said" "*belongs to somebody else*"
	run --as 4321:4321 --home private=x -- true
	status "root: a home of another user's" 125 run --as 4322:4322 --home private=x -- true
	like "root: ... says so" "$said" "*is of launches as another user*"
	is "root: what it writes is the user's" "$(run --as 4321:4321 --home private=x -- sh -c 'echo x >~/x'; stat -c %u "$state/home/x/home/x")" 4321
	is "root: --as keep" "$(run --as keep --home private=k -- sh -c 'id -u; echo x >~/x; cat ~/x' | tr '\n' ' ')" "0 x "
	if mkdir "$h/mnt" && unshare -m true; then
		status "root: a mount below the layer" 125 unshare -m sh -c 'mount -t tmpfs none "$1" && shift && exec "$@"' sh "$h/mnt" \
			env HOME="$h" "$oc" run --home overlay --state-dir "$state" -- true
		like "root: ... says so" "$said" "*home $h/mnt: is mounted below the home, and an overlay cannot show it*"
	fi
fi

# Each name that is hidden stands in the page.
missing=
for name in $(sed -n '/usual\[\] = {/,/^};/s/[^"]*"\([^"]*\)"[^"]*/\1 /gp' "$srcdir"/lib/host/home_hidden.c); do
	grep -qE "^\.Pa (.* )?$(printf %s "$name" | sed 's/[.]/\\./g')( |$)" "$srcdir"/man/nsrun-session.7 || missing="$missing $name"
done
is "each hidden name is in nsrun-session(7)" "$missing" ""
done_testing
