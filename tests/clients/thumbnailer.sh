#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# libgnome-desktop's thumbnails, as file managers make them: the thumbnailer of
# the picture's type runs in bwrap, under a filter.
. "${srcdir:?}"/tests/lib.sh
. "$srcdir"/tests/clients/clients.sh
python=/usr/bin/python3
why=$($python -c '
import gi
gi.require_version("GnomeDesktop", "3.0")
from gi.repository import GnomeDesktop' 2>&1) || skip_all "no libgnome-desktop: ${why##*
}"
[ -x /usr/bin/gdk-pixbuf-thumbnailer ] || skip_all "no gdk-pixbuf-thumbnailer"

# A picture of 300 x 200, and one that is none. Which programs were run shows in
# a log that a `bwrap` in front of ours keeps.
script='
import os, struct, sys, zlib, gi
gi.require_version("GnomeDesktop", "3.0")
from gi.repository import GnomeDesktop, GLib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
png = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 300, 200, 8, 0, 0, 0, 0))
    + chunk(b"IDAT", zlib.compress(b"\0" * 301 * 200)) + chunk(b"IEND", b""))
open("a.png", "wb").write(png)
open("b.png", "wb").write(b"no picture")
factory = GnomeDesktop.DesktopThumbnailFactory.new(GnomeDesktop.DesktopThumbnailSize.NORMAL)
for name in ("a.png", "b.png"):
    uri = GLib.filename_to_uri(os.path.abspath(name))
    try:
        p = factory.generate_thumbnail(uri, "image/png", None)
        print(name, p.get_width(), p.get_height())
    except GLib.Error as e:
        print(name, "refused")
'
mkdir "$work/logged"
cat >"$work/logged/bwrap" <<EOF
#!/bin/sh
printf '%s ' "\$@" >>"\$TMPDIR/log"; echo >>"\$TMPDIR/log"
exec "$bwrap" "\$@"
EOF
chmod 755 "$work/logged/bwrap"

for caller in $callers; do
	is "$caller: a thumbnail is made, a bad file refused" \
		"$(client "$caller" $python -c "$script" 2>"$work/err")" "a.png 128 85
b.png refused"
	client "$caller" env PATH="$work/logged:$PATH" $python -c "$script" >/dev/null 2>&1
	log=$work/$caller/tmp/log
	if [ -s "$log" ]; then
		pass "$caller: ... in bwrap"
		like "$caller: ... with a filter" "$(cat "$log")" "*--seccomp*"
	else
		skip "$caller: ... in bwrap" "this libgnome-desktop does not use it"
	fi
	is "$caller: nothing stays behind" "$(find "$work/$caller/tmp" -mindepth 1 ! -name log)" ""
done
leaves_nothing
done_testing
