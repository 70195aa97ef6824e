#!/bin/sh
# What oc-nsjail answers, row by row, for root and for an ordinary user. A row:
#
#	> NAME [root | user]	the name it has in nsjail's own measurements, if
#				one; and who runs it, if not both
#	WORDS			of the command line, as the shell reads them
#	| LINE			of standard output
#	= STATUS
#
# deviations.txt names the measured rows that are meant to differ from nsjail;
# each has a row here that shows how. Words may use $W, a directory with
# root/ (an empty chroot), ro/f, rw/f and the configurations below, and $SH: a
# jail with a shell.
. "${srcdir:?}"/tests/lib.sh
need_sandbox
here=$srcdir/tests/nsjail
cp "$top_builddir"/nsjail-compat/oc-nsjail "$work"/jail || exit 99
SH="-q -c /"

fixture() {
	W=$work/$1-fixture
	mkdir -p "$W"/root "$W"/ro/sub "$W"/rw "$W"/etc &&
		echo ro-file >"$W"/ro/f && echo rw-file >"$W"/rw/f &&
		cp "$here"/*.cfg "$here"/*.json "$here"/*.kafel "$W"/ || exit 99
	sed -i "s|@W@|$W|g" "$W"/*.cfg "$W"/*.json
	[ "$(id -u)" = 0 ] && [ "$1" = user ] &&
		chown -R $user_id:$user_id "$W"
	return 0
}

# One row, as said by $name, $who, $words, $want, $status.
run_row() {
	[ -n "$name" ] || return 0
	for caller in $callers; do
		[ -z "$who" ] || [ "$who" = $caller ] || continue
		W=$work/$caller-fixture
		eval "set -- $words" || exit 99
		eval "set -- $words"
		as $caller env HOSTVAR=host timeout -s KILL 20 "$work"/jail \
			"$@" >"$work"/out 2>"$work"/err </dev/null
		rc=$?
		got=$(cat "$work"/out; echo "= $rc")
		if [ "$got" = "$(eval "cat <<EOF
$want= $status
EOF")" ]; then
			pass "$caller $name"
		else
			fail "$caller $name" "$got
$(tail -n 3 "$work"/err)"
		fi
	done
}

for caller in $callers; do
	fixture $caller
done
name='' names=
for file in "$here"/*.rows; do
	while IFS= read -r line; do
		case $line in
		'> '*)
			set -- ${line#> }
			name=$1 who=${2:-} words='' want='' status=''
			names="$names $name" ;;
		'| '*) want="$want${line#| }
" ;;
		'|') want="$want
" ;;
		'= '*)
			status=${line#= }
			run_row ;;
		'#'*|'') ;;
		*) words="$words $line" ;;
		esac
	done <"$file"
done

# Every deviation is shown by a row, and says why and where that was decided.
while IFS='	' read -r row why issue; do
	case $row in '#'*|'') continue ;; esac
	case " $names " in
	*" $row "*) [ -n "$why" ] && [ -n "$issue" ] && pass "deviation $row" ||
		fail "deviation $row" "it has no reason or no issue" ;;
	*) fail "deviation $row" "no row shows it" ;;
	esac
done <"$here"/deviations.txt

# The host keeps nothing: no mount point, no link, no work directory.
for caller in $callers; do
	is "$caller: the chroot is as empty as before" \
		"$(find "$work/$caller-fixture/root" -mindepth 1 | sort)" ""
done
done_testing
