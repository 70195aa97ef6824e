#!/bin/sh
# The options of oc-bwrap: the same in its --help, its manual page and both
# completions, each with as many operands. And the page's examples.
. "${srcdir:?}"/tests/lib.sh
. "$srcdir"/tests/pages.sh

bash=$srcdir/completion/oc-bwrap.bash
zsh=$srcdir/completion/_oc-bwrap
cp "$top_builddir"/helper/oc-bwrap "$work"/oc-bwrap || exit 99

# Each says NAME=OPERANDS, a line an option.
of_page() {
	section oc-bwrap.1 OPTIONS | awk 'sub(/^\.It Fl /, "") {
		for (n = 1; n <= NF && $n != "Ar"; n++)
			;
		for (i = 1; i < n; i++)
			if ($i != ",")
				print "-" $i "=" (n > NF ? 0 : NF - n)
	}'
}
of_help() {
	"$work"/oc-bwrap --help | awk 'sub(/^ +--/, "--") {
		sub(/\t.*|  .*/, "")
		for (n = 1; $(n + 1) ~ /^[A-Z][A-Z0-9:=|]+$/; n++)
			;
		print $1 "=" n - 1
	}'
}
of_bash() {
	sed -n "s/^	\[\(--[^]]*\)\]=/\1 /p" "$bash" | tr -d "'" |
		awk '{ print $1 "=" NF - 1 }'
}
of_zsh() {
	sed -n 's/^	.\*\(--[a-z0-9-]*\)\[/\1 [/p' "$zsh" | awk '{
		gsub(/\\./, "")
		sub(/\[[^]]*\]/, "")
		print $1 "=" gsub(/:/, "") / 2
	}'
}

ok "--help exits with 0" "$work"/oc-bwrap --help
help=$(of_help)
same "options: oc-bwrap.1 and --help" "$(of_page)" "$help"
same "options: the completion of bash and --help" "$(of_bash)" "$help"
same "options: the completion of zsh and --help" "$(of_zsh)" "$help"
for list in page help bash zsh; do
	is "$list: no option is there twice" "$(of_$list | sort | uniq -d)" ""
done

# What bash would do with this line: the words that it offers, and the options
# that compopt is called with when it is left to bash.
completion() {
	bash -c '. "$1" || exit
		compopt() { echo "compopt $*"; }
		COMP_LINE=$2
		IFS=" " read -ra COMP_WORDS < <(sed "s/[=:]/ & /g" <<<"$2")
		[[ $2 == *" " ]] && COMP_WORDS+=("")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		_oc_bwrap && printf "%s\n" "${COMPREPLY[@]}"
	' bash "$bash" "$1" 2>&1 | sort -u | tr '\n' ' ' | sed 's/^ *//; s/ $//'
}
completes() { is "bash: $1" "$(completion "$1")" "$2"; }

if command -v bash >/dev/null; then
	is "bash: every option" "$(completion "oc-bwrap -" | tr ' ' '\n')" \
		"$(of_bash | sed 's/=.*//' | sort)"
	completes "oc-bwrap --ro-bind-" "--ro-bind-data --ro-bind-fd --ro-bind-try"
	completes "oc-bwrap --ro-bind / / --tmpf" "--tmpfs"
	completes "oc-bwrap --setenv A b=c:d --tmpf" "--tmpfs"
	completes "oc-bwrap --bind /et" "compopt -o default"
	completes "oc-bwrap --bind / /et" "compopt -o default"
	completes "oc-bwrap --bind /a:b c=d" "compopt -o default"
	completes "oc-bwrap --tmpfs /et" "compopt -o dirnames"
	completes "oc-bwrap --chmod 07" "0700 0755"
	completes "oc-bwrap --chmod 0755 /et" "compopt -o default"
	completes "oc-bwrap --cap-add CAP_NET_" \
		"CAP_NET_ADMIN CAP_NET_BIND_SERVICE CAP_NET_BROADCAST CAP_NET_RAW"
	completes "oc-bwrap --rlimit n" "compopt -o nospace nofile= nproc="
	completes "oc-bwrap --rlimit nofile=" "compopt -o nospace"
	completes "oc-bwrap --seccomp " ""
	completes "oc-bwrap --unsetenv LC_AL" "LC_ALL"
	completes "oc-bwrap --no-such-option /et" ""
	# shellcheck disable=SC2016
	completes 'oc-bwrap --$(echo>&2) -' ""
	# The command, and what belongs to it.
	completes "oc-bwrap --unshare-all unshar" "unshare"
	completes "oc-bwrap -- unshar" "unshare"
	completes "oc-bwrap --as-pid-1 -- --bin" ""
	completes "oc-bwrap ./too" "compopt -o default"
	completes "oc-bwrap --bind a b -- cat --bin" "compopt -o default"
	completes "oc-bwrap cat --tmpfs /et" "compopt -o default"
else
	skip "bash completion" "no bash"
fi
if command -v zsh >/dev/null; then
	ok "zsh: its syntax" zsh -n "$zsh"
else
	skip "zsh: its syntax" "no zsh"
fi

examples oc-bwrap.1
for caller in $callers; do
	why=$(as "$caller" unshare -U -r -m -p -n -f true 2>&1) || {
		skip "$caller: examples" "no namespaces here: $why"
		continue
	}
	run_examples "$caller"
done
done_testing
