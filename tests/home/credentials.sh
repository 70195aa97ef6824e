#!/bin/sh
# Credentials: what is granted by name is there, and no other key's, by no name.
. "${srcdir:?}"/tests/lib.sh
. "$srcdir"/tests/home/home.sh
need_sandbox

# Every way that a command has to say a path; each is tried inside.
cat >"$work/ways" <<'END'
cat "$1"
cat "/proc/self/root$1"
cat "/proc/1/root$1"
cat "/proc/$$/cwd/../../../../../../..$1"
ln -s "$1" ~/.link && cat ~/.link
ln "$1" ~/.hard && cat ~/.hard
cd "$(dirname "$1")" && cat "$(basename "$1")"
cat < "$1"
grep -r . "$(dirname "$1")"
find ~ /tmp /run /var /dev/shm -name "$(basename "$1")" -exec cat {} +
for f in /proc/self/fd/*; do cat "$f/..$1"; done </dev/null
for m in $(sed "s/.* - //" /proc/self/mountinfo | cut -d" " -f2); do cat "$m$1"; done
cp -a "$HOME" /tmp/copy; cat "/tmp/copy${1#"$HOME"}"
mv "$(dirname "$1")" ~/moved; cat ~/moved/*
END
chmod 644 "$work/ways"

for caller in $callers; do
	furnish "$caller"
	before=$(tree "$h")
	keys=$h/.ocp/keys

	# Two keys: each reads its own, in every home, and never the other's.
	for pair in one:two two:one; do
		own=${pair%:*} other=${pair#*:}
		for kind in tmpfs private private=$own overlay "overlay --home-keep $own"; do
			for option in credential credential-copy; do
				# shellcheck disable=SC2086
				in_key() { run --home $kind --$option "$keys/$own.json" --ro "$work/ways_dir" -- "$@"; }
				mkdir -p "$work/ways_dir" && chmod 755 "$work/ways_dir" && cp "$work/ways" "$work/ways_dir/"
				is "$caller: $kind: --$option: the own key" "$(in_key cat "$keys/$own.json")" $own
				is "$caller: $kind: --$option: the other's, by no way" \
					"$(in_key sh -c 'while read -r way; do sh -c "$way" sh "$1" 2>/dev/null | grep "$2"; done <"$3"' \
						sh "$keys/$other.json" "^$other\$" "$work/ways_dir/ways")" ""
			done
		done
	done
	# What one key wrote, the other does not see.
	run --home private=one -- sh -c 'echo of-one >~/of-one'
	run --home overlay --home-keep one -- sh -c 'echo of-one >~/of-one'
	for kind in private=two "overlay --home-keep two" overlay tmpfs; do
		# shellcheck disable=SC2086
		is "$caller: $kind: nothing of the other's home" "$(run --home $kind -- sh -c \
			'for d in "$1"/home/one/home "$1"/home-overlay/one/over/upper ~ "$1"; do cat "$d"/of-one; find "$d" -name of-one; done 2>/dev/null' \
			sh "$state")" ""
	done
	is "$caller: the control: it is there" "$(run --home private=one -- cat "$h/of-one")" of-one

	# Shown: as it is, and not to be changed.
	c=$h/.claude/.credentials.json
	is "$caller: shown" "$(run --credential "$c" -- cat "$c")" '{"token": "host"}'
	for kind in tmpfs private private=s overlay "overlay --home-keep s"; do
		# shellcheck disable=SC2086
		shown() { run --home $kind --credential "$c" -- "$@"; }
		is "$caller: $kind: shown" "$(shown cat "$c")" '{"token": "host"}'
		fails "$caller: $kind: not written" shown sh -c 'echo x >"$1"' sh "$c"
		fails "$caller: $kind: not removed" shown rm -f "$c"
		fails "$caller: $kind: not replaced" shown sh -c 'echo x >"$1.tmp"; mv -f "$1.tmp" "$1"' sh "$c"
		fails "$caller: $kind: no mode of it is changed" shown chmod 777 "$c"
		status "$caller: $kind: a name beside it is" 0 shown sh -c 'mkdir "$1.lock" && rmdir "$1.lock"' sh "$c"
		is "$caller: $kind: the directory is closed" "$(shown stat -c %a "$h/.claude")" 700
	done
	fails "$caller: private: gone without the option" run --home private=s -- test -e "$c"
	is "$caller: elsewhere: DEST" "$(run --credential "$c:.other/name" -- cat "$h/.other/name")" '{"token": "host"}'
	is "$caller: elsewhere: an absolute one" "$(run --credential "$c:$h/abs" -- cat "$h/abs")" '{"token": "host"}'
	is "$caller: a link outside" "$(run --credential "$h/.netrc" -- cat "$h/.netrc")" netrc
	is "$caller: where a link of an overlay home leads" \
		"$(run --home overlay --credential "$h/.config/git/credentials" -- cat "$h/.config/git/credentials" "$h/dotfiles/git/credentials")" "secret
secret"
	is "$caller: beneath what is hidden" "$(run --home overlay --credential "$h/.ssh/id" -- sh -c 'ls -A ~/.ssh; cat ~/.ssh/id')" "id
private-key"
	is "$caller: several" "$(run --credential "$c" --credential "$h/.ssh/id" --credential-copy "$keys/one.json" -- cat "$c" "$h/.ssh/id" "$keys/one.json" | wc -l)" 3
	is "$caller: a name with a colon" "$(as "$caller" sh -c 'echo colon >~/a:b'; run --credential "$h/a:b:c" -- cat "$h/c")" colon
	rm "$h/a:b"; touch -r "$h/.claude.json" "$h"; before=$(tree "$h")

	# A copy: 0600, its own, another one each time.
	for kind in tmpfs private private=c overlay "overlay --home-keep c"; do
		# shellcheck disable=SC2086
		copied() { run --home $kind --credential-copy "$c" -- "$@"; }
		is "$caller: $kind: a copy" "$(copied sh -c 'cat "$1"; stat -c %a "$1"; echo x >"$1"; echo x >"$1.t"; mv "$1.t" "$1"; cat "$1"' sh "$c")" '{"token": "host"}
600
x'
		is "$caller: $kind: ... the next one has one of its own" "$(copied cat "$c")" '{"token": "host"}'
	done
	run --home private=c --credential-copy "$c" -- sh -c 'echo mine >"$1"; touch ~/ready; while [ -e ~/ready ]; do sleep 0.1; done' sh "$c" &
	eventually "$caller: a launch that has one" test -e "$state/home/c/home/ready"
	is "$caller: ... shares it with those at the same time" "$(run --home private=c --credential-copy "$c" -- sh -c 'cat "$1"; rm ~/ready' sh "$c")" mine
	wait
	is "$caller: the host's is as it was" "$(tree "$h")" "$before"

	# What a command left in the place of one is not followed.
	run --home private=l -- sh -c 'mkdir ~/.claude; ln -s /etc/passwd ~/.claude/.credentials.json; ln -s .. ~/.ocp'
	is "$caller: a link in a copy's place is replaced" "$(run --home private=l --credential-copy "$c" -- cat "$c")" '{"token": "host"}'
	run --home private=l -- sh -c 'ln -sf ../x ~/.claude/.credentials.json'
	status "$caller: a link where one is to be shown" 125 run --home private=l --credential "$c" -- true
	like "$caller: ... says so" "$said" "*is in the way*"
	status "$caller: a link on the way" 125 run --home private=l --credential-copy "$keys/one.json" -- true
	like "$caller: ... says so" "$said" "*is in the way*"
	for name in one two s c l; do
		as "$caller" "$oc" home --state-dir "$state" release private=$name 2>/dev/null
		as "$caller" "$oc" home --state-dir "$state" release overlay=$name 2>/dev/null
	done

	# Bad input.
	as "$caller" sh -c 'mkdir ~/bad; cd ~/bad; mkfifo fifo; mkdir dir; ln -s none dangling; touch closed empty
		chmod 0 closed; dd if=/dev/zero of=large bs=1M count=1 2>/dev/null; echo >>large'
	for option in credential credential-copy; do
		for bad in '' : :x "$c:" "$c:/etc/x" "$c:../x" "$c:." "$c:a/../b" "$c:/" "$c:$h" /etc/hostname "$h/bad/none" "$h/bad/dangling" \
			"$h/bad/fifo" "$h/bad/dir" /dev/null:x /proc/self/status:x "$c:project/x" "$c:project"; do
			status "$caller: --$option $bad" 125 run --$option "$bad" -- true
			like "$caller: ... says why" "$said" "oc-nsrun: *"
		done
		status "$caller: two at one place" 125 run --credential "$c:x" --$option "$h/.ssh/id:x" -- true
		status "$caller: one in another" 125 run --credential "$c:x" --$option "$h/.ssh/id:x/y" -- true
	done
	is "$caller: an empty one" "$(run --credential "$h/bad/empty" --credential-copy "$h/bad/empty:e" -- wc -c "$h/bad/empty" "$h/e" | awk 'END { print $1 }')" 0
	status "$caller: a copy that is too large" 125 run --credential-copy "$h/bad/large" -- true
	[ "$caller" = user ] && status "$caller: one that cannot be read" 125 run --credential "$h/bad/closed" -- true
	status "$caller: --credential-return without a copy" 125 run --credential "$c" --credential-return -- true
	status "$caller: --credential-return=x" 125 run --credential-copy "$c" --credential-return=x -- true
	status "$caller: git takes none" 125 as "$caller" "$oc" git --project . --credential "$c" -- status
	status "$caller: ... and no home" 125 as "$caller" "$oc" git --project . --home overlay -- status
	like "$caller: explain shows where" "$(as "$caller" "$oc" explain --credential "$c" -- true)" "*.claude/.credentials.json*ro *pinned*"
	like "$caller: ... and what is handed back" "$(as "$caller" "$oc" explain --credential-copy "$c" --credential-return -- true)" \
		"*hands back   $c
*"
	like "$caller: ... in JSON, too" "$(as "$caller" "$oc" explain --json --credential-copy "$c:x" --credential-return -- true)" \
		"*\"returns\": \[{\"path\": \"$h/x\", \"host\": \"$c\"}\]*"
	unlike "$caller: ... and no content" "$(as "$caller" "$oc" explain --json --credential-copy "$c" -- true)" "*token*"
done
done_testing
