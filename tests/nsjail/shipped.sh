#!/bin/bash
# Configurations of the kinds that nsjail ships, in our own words: each is read,
# and does in its jail what its first lines say:
#
#	# WHAT IT IS
#	#| A LINE OF OUTPUT		all of them, in order
#	#| rc=STATUS			if it is not 0
#	#~ PATTERN			or: what the output is like
#	#@ MACHINE			that has the calls that its policy names
#
# One that says nothing of this needs what not every machine has: an interface,
# pasta(1). It must be read, and may be refused for anything but what it says.
. "${srcdir:?}"/tests/lib.sh
need_sandbox
here=$srcdir/tests/nsjail/shipped
cp "$top_builddir"/nsjail-compat/oc-nsjail "$work"/jail || exit 99

# In $W: what the configurations show their jails.
fixture() {
	W=$work/$1-fixture
	mkdir -p "$W"/ro "$W"/rw "$W"/home/Documents "$W"/home/.profile.d &&
		echo ro-file >"$W"/ro/f && echo rw-file >"$W"/rw/f &&
		echo dear >"$W"/home/Documents/letter &&
		echo x11 >"$W"/x11 && echo wayland >"$W"/wayland-0 &&
		cp "$here"/* "$W"/ || exit 99
	sed -i "s|@W@|$W|g" "$W"/*.cfg "$W"/*.json
	if [ "$(id -u)" = 0 ] && [ "$1" = user ]; then
		chown -R $user_id:$user_id "$W"
	fi
}

# jail CALLER CFG WORDS...: what it says, and its status if that is not 0
jail() {
	as "$1" env HOME="$W"/home timeout -s KILL 30 "$work"/jail -Q \
		-C "$W/$2" "${@:3}" 2>"$work"/err </dev/null
	rc=$?
	[ $rc = 0 ] || echo rc=$rc
}

run() {
	caller=$1 cfg=$2
	# JSON has no comments: it says what its text says.
	says=$here/${cfg%.*}.cfg
	want=$(sed -n 's/^#| \{0,1\}//p' "$says")
	like=$(sed -n 's/^#~ //p' "$says")
	machine=$(sed -n 's/^#@ //p' "$says")
	if [ "${machine:-$(uname -m)}" != "$(uname -m)" ]; then
		skip "$caller: $cfg" "its policy is for $machine"
		return
	fi
	got=$(jail "$caller" "$cfg")
	if [ "$like" ]; then
		like "$caller: $cfg" "$got" "$like*"
	else
		is "$caller: $cfg" "$got" "$want"
	fi
}

for caller in $callers; do
	fixture "$caller"
	n=0
	for path in "$here"/*; do
		cfg=${path##*/}
		n=$((n + 1))
		if grep -q '^#[|~]' "${path%.*}.cfg"; then
			run "$caller" "$cfg"
			continue
		fi
		got=$(jail "$caller" "$cfg" --status_fd 1)
		unlike "$caller: $cfg is read" "$got$(cat "$work"/err)" \
			"*$cfg:[0-9]*:[0-9]*:*"
	done
	is "$caller: as many as nsjail has, at the least" \
		"$([ $n -ge 29 ] && echo yes)" yes

	# Its command line wins, as far as it does with nsjail.
	is "$caller: other words for the same program" "$(jail "$caller" \
		basic.cfg -- name -c 'echo $0 said')" "name said"
	is "$caller: another program" "$(jail "$caller" basic.cfg -x /bin/echo \
		-- echo x)" x
	is "$caller: another host name" "$(jail "$caller" basic.cfg -H other)" \
		"other
/tmp"
done
done_testing
