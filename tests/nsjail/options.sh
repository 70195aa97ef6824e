#!/bin/sh
# The options of oc-nsjail in its --help and its page, the fields of its
# configuration in their table and their page, and the page's example.
. "${srcdir:?}"/tests/lib.sh
. "$srcdir"/tests/pages.sh
cp "$top_builddir"/nsjail-compat/oc-nsjail "$work"/oc-nsjail || exit 99

# Each says NAME LETTER OPERAND, what there is of it.
of_help() {
	"$work"/oc-nsjail --help | sed -n 's/^ --/--/p' | tr '|' ' ' |
		tr ' ' '_'
}
of_page() {
	section oc-nsjail.1 OPTIONS | sed -n \
		's/^\.It Fl -/--/p' | sed 's/ , / -/; s/ Ar / /' | tr '| ' '__'
}
same "options: the page and --help" "$(of_page)" "$(of_help)"
is "no option is there twice" "$("$work"/oc-nsjail --help |
	sed -n 's/^ --\([a-z0-9_]*\).*/\1/p' | sort | uniq -d)" ""
is "the first line, as callers expect it" "$("$work"/oc-nsjail -h | head -n 1)" \
	" Usage: $work/oc-nsjail [options] -- path_to_command [args]"

of_table() {
	tr -d '\n\t' <"$srcdir"/nsjail-compat/fields.c | grep -o \
		'\([A-Z_]*("\|{ "\)[a-z_0-9]*"' | sed 's/"$//' |
		sed 's/^LIMIT("\(.*\)/\1 \1_type/; s/.*"//' | tr ' ' '\n'
}
same "fields: the page and the table" \
	"$(section oc-nsjail.cfg.5 FIELDS | sed -n 's/^\.It Va //p')" \
	"$(of_table)"

# What the page shows is what happens; the example of the file is read.
need_sandbox
n=0
examples oc-nsjail.1
while [ $n -lt ${n_examples:-0} ]; do
	n=$((n + 1))
	[ -f "$work/example.$n.cmd" ] || continue
	is "example $n" "$(cd "$work" && PATH=$work:$PATH sh \
		"$work/example.$n.cmd" 2>&1)" \
		"$(cat "$work/example.$n.out" 2>/dev/null)"
done
section oc-nsjail.cfg.5 DESCRIPTION | sed -n '/^\.Bd/,/^\.Ed/p' |
	grep -v '^\.[BE]d' >"$work"/page.cfg
{ cat "$work"/page.cfg; echo 'mount { src: "/" dst: "/" is_bind: true }'; } \
	>"$work"/run.cfg
is "the example of the file" "$("$work"/oc-nsjail -q -C "$work"/run.cfg -- \
	/bin/sh -c 'echo $LANG' 2>&1 | tail -n 1)" C
done_testing
