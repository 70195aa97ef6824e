# Sourced, after lib.sh, by the tests that compare the manual pages with the
# programs and run their examples.

man=$srcdir/man
set -f		# names like LC_* are words here

# section PAGE TITLE: what stands below a .Sh; subsection: below a .Ss
section() {
	awk -v title=".Sh $2" '/^\.Sh / { on = $0 == title; next } on' \
		"$man/$1"
}
subsection() {
	awk -v title=".Ss $2" '/^\.S[hs] / { on = $0 == title; next } on' \
		"$man/$1"
}

list() { printf '%s\n' "$@" | sort -u; }
# same WHAT DOCUMENTED REAL: the same words, whatever their order
same() {
	list $2 >"$work"/documented
	list $3 >"$work"/real
	missing=$(comm -13 "$work"/documented "$work"/real | tr '\n' ' ')
	surplus=$(comm -23 "$work"/documented "$work"/real | tr '\n' ' ')
	if [ -z "$2" ] || [ -z "$3" ]; then
		fail "$1" "one of the two lists is empty: this test is blind"
	elif [ "$missing$surplus" ]; then
		fail "$1" "not documented: $missing
not real: $surplus"
	else
		pass "$1"
	fi
}

# literal PAGE: the literal blocks of EXAMPLES, as they are read on a screen.
literal() {
	section "$1" EXAMPLES |
		sed -n '/^\.Bd -literal/,/^\.Ed/p' |
		sed "s/^\\\\&//; s/\\\\-/-/g; s/\\\\(aq/'/g; s/\\\\e/\\\\/g"
}

# examples PAGE: sets n_examples and writes each to example.N.cmd, its output as
# shown to .out, and its status, when `echo $?` follows, to .status.
examples() {
	literal "$1" | awk -v base="$work/example." '
		/^\.[BE]d/ { more = 0; shown = 0; next }
		more || /^\$ / {
			file = base n ".status"
			if (more || $0 != "$ echo $?") {
				n += !more
				file = base n ".out"
				print more ? $0 : substr($0, 3) >(base n ".cmd")
			}
			more = /\\$/
			shown = 1
			next
		}
		shown { print >file }
		END { print n + 0 >(base "n") }'
	n_examples=$(cat "$work"/example.n)
	[ "$n_examples" -gt 0 ] || fail "$1: examples" "there are none"
}

# shows FILE OUTPUT: line by line; `...` is anything, alone any number of lines.
shows() {
	awk -v shown="$1" '
	function fits(line, pattern,    at) {
		at = index(pattern, "...")
		if (!at)
			return line == pattern
		if (substr(line, 1, at - 1) != substr(pattern, 1, at - 1))
			return 0
		line = substr(line, at)
		pattern = substr(pattern, at + 3)
		for (; line != ""; line = substr(line, 2))
			if (fits(line, pattern))
				return 1
		return pattern == ""
	}
	BEGIN {
		while ((getline line <shown) > 0)
			want[++n] = line
		i = 1
	}
	{
		while (want[i] == "..." && i <= n) {
			any = 1
			i++
		}
		if (i <= n && fits($0, want[i])) {
			any = 0
			i++
		} else if (!any)
			wrong = 1
	}
	END {
		while (want[i] == "..." && i <= n)
			i++
		exit wrong || i <= n
	}'
}

# run_examples CALLER: those of examples, in the project
run_examples() {
	for n in $(seq "$n_examples"); do
		example=$(cat "$work/example.$n.cmd")
		what="$1: $(echo "$example" | head -n 1)"
		want=0
		[ -f "$work/example.$n.status" ] &&
			want=$(cat "$work/example.$n.status")
		[ -f "$work/example.$n.out" ] || : >"$work/example.$n.out"
		said=$(as "$1" env PATH="$work:$PATH" sh -c "$example" 2>&1)
		rc=$?
		if [ "$rc" != "$want" ]; then
			fail "$what" "status $rc, not $want: $said"
		elif printf '%s' "$said" | shows "$work/example.$n.out"; then
			pass "$what"
		else
			fail "$what" "it says:
$said
and the page:
$(cat "$work/example.$n.out")"
		fi
	done
}
