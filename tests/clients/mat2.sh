#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# mat2 through its Python interface, the way the file managers' extensions use
# it: every external program it calls runs in bwrap.
. "${srcdir:?}"/tests/lib.sh
. "$srcdir"/tests/clients/clients.sh
python=/usr/bin/python3
why=$($python -c 'import libmat2.parser_factory' 2>&1) ||
	skip_all "no mat2: ${why##*
}"
command -v exiftool >/dev/null || skip_all "mat2 has no exiftool to run"

# A picture of one pixel with a comment. Prints what is found and what is left.
script='
import base64, struct, sys, zlib
from libmat2 import images, bubblewrap
bubblewrap._get_bwrap_path.cache_clear()
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
png = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    + chunk(b"tEXt", b"Comment\0secret place") + chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b""))
open("a.png", "wb").write(png)
parser = images.PNGParser("a.png")
parser.sandbox = True
print("found", parser.get_meta().get("Comment"))
print("cleaned", parser.remove_all())
left = images.PNGParser(parser.output_filename)
left.sandbox = True
print("left", left.get_meta())
'
# What mat2 says of one input and one output: the wrapper itself.
wrapper='
from libmat2 import bubblewrap as b
open("in.txt", "w").write("text")
r = b.run(["/bin/sh", "-c", "cat in.txt >out/made.txt; echo x >>in.txt; ls ~ 2>/dev/null"],
    input_filename="in.txt", output_filename="out/made.txt", stdout=b.PIPE, stderr=b.PIPE)
print(r.returncode, r.stdout.decode().split(), open("in.txt").read())
r = b.run(["/bin/sh", "-c", "cat in.txt >out/made.txt"],
    input_filename="in.txt", output_filename="out/made.txt", check=True)
print(open("out/made.txt").read())
try:
    b.run(["/bin/sh", "-c", "exit 3"], input_filename="in.txt", check=True)
except b.CalledProcessError as e:
    print("status", e.returncode)
'
for caller in $callers; do
	is "$caller: a picture is cleaned" "$(client "$caller" $python -c "$script" 2>&1)" "found secret place
cleaned True
left {}"
	client "$caller" mkdir out
	is "$caller: one file in, one file out" \
		"$(client "$caller" $python -c "$wrapper" 2>&1)" "0 ['project'] text
text
status 3"
done
leaves_nothing
done_testing
