#!/bin/sh
# The options of oc-nsjail in its --help, its page and both completions, the
# fields of its configuration in their table and their page, and what both pages
# show.
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

# Each says NAME LETTER OPERANDS, a line an option.
words_of_help() {
	"$work"/oc-nsjail --help | sed -n 's/^ --/--/p' | tr '|' ' ' | awk '{
		letter = $2 ~ /^-.$/ ? $2 : "."
		print $1, letter, NF - 1 - (letter != ".")
	}' | sed 's/ [2-9]$/ 1/' | sort
}
words_of_bash() {
	bash -c '. "$1"
	for option in "${!_oc_nsjail_options[@]}"; do
		letter=.
		for l in "${!_oc_nsjail_letters[@]}"; do
			[ "${_oc_nsjail_letters[$l]}" = "$option" ] &&
				letter=-$l
		done
		[ "${_oc_nsjail_options[$option]}" ] && n=1 || n=0
		echo "$option $letter $n"
	done' bash "$srcdir"/completion/oc-nsjail.bash | sort
}
words_of_zsh() {
	sed -n "s/^	.\*'{\(-.\)+*,\(--[a-z0-9_]*\)\(=*\)}.*/\2 \1 \3/p
		s/^	.\*\(--[a-z0-9_]*\)\(=*\)\[.*/\1 . \2/p" \
		"$srcdir"/completion/_oc-nsjail |
		sed 's/ $/ 0/; s/=$/1/' | sort
}
same "options: the completion of zsh and --help" "$(words_of_zsh)" \
	"$(words_of_help)"
if command -v bash >/dev/null; then
	same "options: the completion of bash and --help" "$(words_of_bash)" \
		"$(words_of_help)"
else
	skip "options: the completion of bash" "no bash"
fi
if command -v zsh >/dev/null; then
	ok "zsh: its syntax" zsh -n "$srcdir"/completion/_oc-nsjail
else
	skip "zsh: its syntax" "no zsh"
fi

# What bash would do with this line: the words that it offers, and the options
# that compopt is called with when it is left to bash.
completion() {
	bash -c '. "$1" || exit
		compopt() { echo "compopt $*"; }
		COMP_LINE=$2
		IFS=" " read -ra COMP_WORDS < <(sed "s/[=:]/ & /g" <<<"$2")
		[[ $2 == *" " ]] && COMP_WORDS+=("")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		_oc_nsjail && printf "%s\n" "${COMPREPLY[@]}"
	' bash "$srcdir"/completion/oc-nsjail.bash "$1" 2>&1 | sort -u |
		tr '\n' ' ' | sed 's/^ *//; s/ $//'
}
completes() { is "bash: $1" "$(completion "$1")" "$2"; }
if command -v bash >/dev/null; then
	is "bash: every option" "$(completion "oc-nsjail -" | tr ' ' '\n' |
		sort)" "$(words_of_bash | sed 's/ .*//' | sort)"
	completes "oc-nsjail --bindm" "--bindmount --bindmount_ro"
	completes "oc-nsjail -Mo --tmpf" "--tmpfsmount"
	completes "oc-nsjail -qM " "e l o r"
	completes "oc-nsjail -qMo --rlimit_as " "hard inf soft"
	completes "oc-nsjail --rlimit_as=in" "inf"
	completes "oc-nsjail --rlimit_as in" "inf"
	completes "oc-nsjail -C /et" "compopt -o default"
	completes "oc-nsjail --config=/et" "compopt -o default"
	completes "oc-nsjail -R /a:/b -B /a:/b -c /et" "compopt -o dirnames"
	completes "oc-nsjail --cap CAP_NET_" \
		"CAP_NET_ADMIN CAP_NET_BIND_SERVICE CAP_NET_BROADCAST CAP_NET_RAW"
	completes "oc-nsjail -E LC_AL" "LC_ALL"
	completes "oc-nsjail --no_such_option /et" ""
	completes "oc-nsjail -z /et" ""
	completes "oc-nsjail -c / unshar" "unshare"
	completes "oc-nsjail -c / -- unshar" "unshare"
	completes "oc-nsjail -- --bin" ""
	completes "oc-nsjail -c / ./too" "compopt -o default"
	completes "oc-nsjail -c / cat --bin" "compopt -o default"
	# shellcheck disable=SC2016
	completes 'oc-nsjail --$(echo>&2) -' ""
fi

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
