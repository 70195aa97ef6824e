#!/bin/sh
# Who may include whom: downwards only, faces -> run -> apply -> plan -> base,
# host -> plan -> base, policy -> base. nsrun.h, the contract, is everybody's; Kafel knows base and how
# cBPF is written.
set -u
echo 1..2
: "${srcdir:?}"
bad=$(cd "$srcdir" && grep -n '^#include "' lib/*/*.[ch] lib/*.h helper/*.[ch] \
    policy/*.[ch] nsjail-compat/*.[ch] nsjail-compat/*/*.[ch] | awk -F'[:"]' '
BEGIN {
	allow["lib/base"] = "base nsrun.h"
	allow["lib/plan"] = "plan base policy/embedded.h nsrun.h"
	allow["lib/host"] = "host plan base policy/embedded.h nsrun.h"
	allow["lib/apply"] = "apply plan base nsrun.h"
	allow["lib/run"] = "run apply plan base policy/embedded.h nsrun.h"
	allow["lib/api"] = "api run host plan base nsrun.h"
	allow["lib/overlay"] = "overlay base nsrun.h"
	allow["helper"] = "helper overlay run host plan base policy/embedded.h nsrun.h"
	allow["policy"] = "policy base nsrun.h"
	allow["nsjail-compat"] = "nsjail-compat run host plan base policy/embedded.h nsrun.h"
	allow["nsjail-compat/kafel"] = "nsjail-compat/kafel kafel base policy/asm.h nsrun.h"
}
{
	dir = $1; sub(/\/[^\/]*$/, "", dir)
	dep = $4; layer = dep
	if (dep !~ /\//) layer = dep == "nsrun.h" ? dep : dir
	else if (dep !~ /^policy\/(embedded|asm)\.h$/ || dir == "policy")
		sub(/\/.*/, "", layer)
	if (dir == "lib" || (" " allow[dir] " ") !~ (" " layer " "))
		print $1 ":" $2 ": may not include " dep
}')
if [ -z "$bad" ]; then
	echo "ok 1 - includes point downwards"
else
	echo "not ok 1 - includes point downwards"
	echo "$bad" | sed 's/^/# /'
fi

# Only sys.h knows which headers are too old.
bad=$(cd "$srcdir" && grep -nE '^#\s*if(def|ndef)?\b' lib/*/*.[ch] helper/*.c \
    nsjail-compat/*.[ch] nsjail-compat/*/*.[ch] |
	grep -vE '(lib/base/sys\.h|#ifndef (NSRUN|HELPER|KAFEL|NSJAIL)_([A-Z_]+_)?H$)' |
	grep -vE 'lib/host/build\.c:[0-9]+:#if defined __x86_64__')
if [ -z "$bad" ]; then
	echo "ok 2 - conditional compilation stands in sys.h"
else
	echo "not ok 2 - conditional compilation stands in sys.h"
	echo "$bad" | sed 's/^/# /'
fi
