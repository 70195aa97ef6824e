#!/bin/sh
# The hand of the project, as far as a script can see it: tabs, 80 columns, no
# trailing blanks, functions of a screen, files of one idea.
set -u
echo 1..4
: "${srcdir:?}"
cd "$srcdir" || exit 99
sources=$(ls lib/*.h lib/*/*.[ch] helper/*.[ch] policy/*.[ch] nsjail-compat/*.[ch] \
	nsjail-compat/*/*.[ch] tests/*/*.[ch] 2>/dev/null |
	grep -vE '^(policy/embedded|nsjail-compat/kafel/calls)\.c')	# made by the build
[ -n "$sources" ] || exit 99
say() {
	if [ -z "$3" ]; then
		echo "ok $1 - $2"
	else
		echo "not ok $1 - $2"
		echo "$3" | head -n 20 | sed 's/^/# /'
	fi
}
wide=$(awk '{
	line = $0; out = ""
	while ((i = index(line, "\t"))) {
		out = out substr(line, 1, i - 1)
		do out = out " "; while (length(out) % 8)
		line = substr(line, i + 1)
	}
	out = out line
	gsub(/[\200-\277]/, "", out)
	if (length(out) > 80) print FILENAME ":" FNR ": " length(out) " columns"
	if ($0 ~ /[ \t]$/) print FILENAME ":" FNR ": trailing blank"
	if ($0 ~ /^ +[^ *]/ && $0 !~ /^    [^ ]/ && $0 !~ /^ [-*]/)
		print FILENAME ":" FNR ": indented by blanks"
}' $sources)
say 1 "tabs, 80 columns, no trailing blanks" "$wide"

long=$(awk '
/^[a-z_].*\)$|^nsrun_.*\($|^[a-z_]+\(/ { name = $0; start = FNR }
/^\{/ { open = FNR }
/^\}/ { if (open && FNR - open > 60) print FILENAME ":" start ": " FNR - open " lines: " name; open = 0 }
' $(echo "$sources" | tr ' ' '\n' | grep -v '^tests/'))
say 2 "no function is longer than a screen" "$long"

big=$(wc -l $(echo "$sources" | tr ' ' '\n' | grep -v '^tests/') |
	awk '$2 != "total" && $1 > 500 { print $2 ": " $1 " lines" }')
say 3 "no file is longer than 500 lines" "$big"

# make check runs them as programs; those that are only read have no first line.
modes=$(for f in tests/*.sh tests/*/*.sh; do
	head -n 1 "$f" | grep -q '^#!' && [ ! -x "$f" ] && echo "$f"
done)
say 4 "scripts can be executed" "$modes"
