# calls.tbl as C.
BEGIN {
	print "/* Made from calls.tbl. */"
	print "#include \"kafel/calls.h\"\n"
	print "const struct kafel_call kafel_calls[] = {"
}
/^#/ { next }
NF < 3 || NF > 9 { print "calls.tbl:" NR ": not a call" >"/dev/stderr"; exit 1 }
function check(name, max) {
	if (length(name) > max) {
		print "calls.tbl:" NR ": too long: " name >"/dev/stderr"
		exit 1
	}
	return name
}
{
	check($1, 23)
	printf "\t{ \"%s\", { %s, %s }, {", $1, $2 == "-" ? -1 : $2, \
	    $3 == "-" ? -1 : $3
	for (i = 4; i <= NF; i++) {
		wide = !sub(/:32$/, "", $i)
		split($i, name, "/")
		printf " { \"%s\", \"%s\", %d },", check(name[1], 16), \
		    check(name[2], 6), wide
	}
	print " } },"
	n++
}
END {
	print "};\n\nconst size_t kafel_n_calls = " n ";"
	print "_Static_assert(KAFEL_CALL_MAX >= 23 && KAFEL_ARG_MAX >= 16 &&"
	print "    KAFEL_OTHER_MAX >= 6, \"as calls.awk checks\");"
}
