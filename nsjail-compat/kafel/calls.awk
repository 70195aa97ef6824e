# calls.tbl as C.
BEGIN {
	print "/* Made from calls.tbl. */"
	print "#include \"kafel/calls.h\"\n"
	print "const struct kafel_call kafel_calls[] = {"
}
/^#/ { next }
NF < 3 || NF > 9 { print "calls.tbl:" NR ": not a call" >"/dev/stderr"; exit 1 }
{
	printf "\t{ \"%s\", { %s, %s }, {", $1, $2 == "-" ? -1 : $2, \
	    $3 == "-" ? -1 : $3
	for (i = 4; i <= NF; i++) {
		wide = !sub(/:32$/, "", $i)
		split($i, name, "/")
		printf " { \"%s\", %s, %d },", name[1], \
		    name[2] ? "\"" name[2] "\"" : "NULL", wide
	}
	print " } },"
	n++
}
END { print "};\n\nconst size_t kafel_n_calls = " n ";" }
