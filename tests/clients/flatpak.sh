#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# flatpak: a runtime and an application made here, installed for the user and
# run, all of it offline. build, the triggers of an installation, run with its
# D-Bus proxies, and what `flatpak ps` and `flatpak kill` make of bwrapinfo.json.
. "${srcdir:?}"/tests/lib.sh
. "$srcdir"/tests/clients/clients.sh
for program in flatpak dbus-run-session ldd; do
	command -v $program >/dev/null || skip_all "no $program"
done
if [ "$(id -u)" != 0 ] && ! getent passwd "$(id -u)" >/dev/null; then
	skip_all "dbus-daemon wants an entry in /etc/passwd"
fi

# A runtime: a shell, some programs, and what they need.
mkdir -p "$work/runtime/usr/bin" "$work/runtime/usr/lib" "$work/runtime/files"
printf '[Runtime]\nname=org.oc.Platform\n' >"$work/runtime/metadata"
for program in sh ls cat readlink id env sleep stat grep "$probe"; do
	program=$(command -v "$program")
	cp -L "$program" "$work/runtime/usr/bin/"
	ldd "$program" | sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p; s/^[[:blank:]]*\(\/[^ ]*\) .*/\1/p'
done | sort -u | while read -r library; do cp -L "$library" "$work/runtime/usr/lib/"; done
ln -s lib "$work/runtime/usr/lib64"

cat >"$work/make" <<'EOF'
set -eu
cd "$1"; rm -rf app
flatpak build-export --disable-sandbox --runtime repo "$2/runtime" master
flatpak --user remote-add --no-gpg-verify oc repo
flatpak --user install -y oc org.oc.Platform
flatpak build-init app org.oc.App org.oc.Platform org.oc.Platform master
flatpak build app sh -c 'echo built in "$FLATPAK_DEST" as "$FLATPAK_ID" >/app/built; for fd in /proc/self/fd/*; do echo "${fd##*/}"; done >/app/fds'
mkdir -p app/files/bin
printf '#!/bin/sh\necho "hello $*"; exit 7\n' >app/files/bin/hello
chmod 755 app/files/bin/hello
flatpak build-finish app --command=hello
flatpak build-export repo app master
flatpak --user install -y oc org.oc.App
EOF
cat >"$work/use" <<'EOF'
say() { echo "= $*"; }
cd "$1"
say run; flatpak run org.oc.App one 'two  words'; echo "status $?"
say cat; echo in | flatpak run --command=cat org.oc.App
say where; flatpak run --command=sh org.oc.App -c 'cat /app/built; ls -d /home /root "$HOME/$0" 2>/dev/null
	(: >/app/x) 2>/dev/null && echo app written; (: >/usr/x) 2>/dev/null && echo usr written
	: >"$XDG_DATA_HOME/x" && echo data written' "${1##*/}"
say fds; flatpak run --command=probe org.oc.App fds
say filter; flatpak run --command=probe org.oc.App try userns mount tiocsti chroot inet
say info; flatpak run --command=sh org.oc.App -c 'grep ^name= /.flatpak-info; stat -c %a /.flatpak-info'
say granted; flatpak run --filesystem="$1" --command=sh org.oc.App -c 'echo ok >"$0/granted"' "$1"; cat granted
say ps; flatpak run --command=sh org.oc.App -c 'echo up; exec sleep 60' >up &
pid=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do grep -qs up up && break; sleep 0.1; done
# It goes on listing those that ended a moment ago.
for wrapper in $(flatpak ps --columns=pid); do
	kill -0 "$wrapper" 2>/dev/null || continue
	flatpak ps --columns=pid,application | grep "^$wrapper" | tr -d '0-9\t '
	flatpak enter "$wrapper" cat /.flatpak-info | grep ^name=
done
flatpak kill org.oc.App
wait $pid; echo "killed $?"
EOF
chmod 755 "$work/make" "$work/use"

for caller in $callers; do
	P=$(project "$caller")
	flat() { known_client "$caller" env FLATPAK_BWRAP="$bwrap" XDG_RUNTIME_DIR="$work/$caller/tmp" \
		G_MESSAGES_DEBUG= timeout -k 5 60 "$@"; }
	flat sh "$work/make" "$P" "$work" >"$work/log" 2>&1
	rc=$?
	is "$caller: a runtime and an application are built and installed" $rc 0
	[ $rc = 0 ] || { diag "$(tail -n 20 "$work/log")"; continue; }
	is "$caller: flatpak build" "$(cat "$P/app/files/built")" "built in /app as org.oc.App"
	flat sh "$work/use" "$P" >"$work/log" 2>&1
	# What the bus has to say is not asked for.
	part() { sed -n "/^= $1\$/,/^= /{/^= /d;/^dbus-daemon/d;p;}" "$work/log"; }
	is "$caller: flatpak run, words and status" "$(part run)" "hello one two  words
status 7"
	is "$caller: standard input" "$(part cat)" in
	is "$caller: it sees its own and writes its own" "$(part where)" "built in /app as org.oc.App
data written"
	is "$caller: no descriptor" "$(part fds)" "0 1 2"
	is "$caller: the filter" "$(part filter)" "userns EPERM mount EPERM tiocsti EPERM chroot EPERM inet OK"
	is "$caller: .flatpak-info" "$(part info)" "name=org.oc.App
600"
	is "$caller: --filesystem" "$(part granted)" ok
	is "$caller: ps, enter and kill" "$(part ps)" "org.oc.App
name=org.oc.App
killed 137"
done
leaves_nothing
done_testing
