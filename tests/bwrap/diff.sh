#!/bin/sh
# oc-bwrap does what Debian's bwrap does, or `differences` says why not: every
# row of diff.rows is run with both, by every caller. First the comparison has
# to show that it sees what it is there for, with a reference that is altered.
#
#	REFERENCE_BWRAP=FILE	another reference than /usr/bin/bwrap
#	DIFF_PROGRAM=FILE	another program than ours
#	DIFF_ROWS=GLOB		only these rows
#	DIFF_TEXT=1		compare the whole texts of errors
#	DIFF_SHOW=1		show the accepted differences too
. "$srcdir"/tests/lib.sh
here=$srcdir/tests/bwrap
built=$top_builddir/tests/bwrap
reference=${REFERENCE_BWRAP:-/usr/bin/bwrap}

no() { echo "1..0 # SKIP $*"; exit 0; }
[ -x "$reference" ] || no "no $reference to compare with"
case $("$reference" --version 2>&1) in
*' '0.8.*) ;;
*) [ -n "${REFERENCE_BWRAP:-}" ] ||
	no "the rows are for bwrap 0.8, not $("$reference" --version 2>&1)" ;;
esac
need_sandbox
for caller in $callers; do
	why=$(as $caller "$reference" --ro-bind / / true 2>&1) ||
		no "$reference does not work here: $why"
done

# Where every caller can reach them, and none under a name of its own.
mkdir "$work/bin" || exit 99
cp "$built/probe" "$built/diff" "$work/bin" || exit 99
program=${DIFF_PROGRAM:-$top_builddir/helper/oc-bwrap}
cp "$program" "$work/bin/oc-bwrap" || exit 99
rows=$work/rows accepted=$here/differences
if "$reference" --help 2>&1 | grep -q -e --bind-fd; then
	cp "$here/diff.rows" "$rows"
else
	# Debian's has it, from a later version.
	grep -v -e bind-fd "$here/diff.rows" >"$rows"
	diag "$reference has no --bind-fd: without those rows"
fi

# compare CALLER PROGRAM DIFFERENCES DIR: what the driver prints
compare() {
	mkdir -p "$work/$1/$4" || exit 99
	[ "$(id -u)" = 0 ] && [ "$1" = user ] &&
		chown $user_id:$user_id "$work/$1/$4"
	as "$1" env ${DIFF_ROWS:+"DIFF_ROWS=$DIFF_ROWS"} \
		${DIFF_TEXT:+DIFF_TEXT=1} ${DIFF_SHOW:+DIFF_SHOW=1} \
		${DIFF_DUMP:+DIFF_DUMP=1} \
		"$work/bin/diff" "$1" "$rows" "$3" "$reference" "$2" \
		"$work/bin/probe" "$work/$1/$4" </dev/null || exit 99
}

# control FIELD ROW SCRIPT: the reference, altered by SCRIPT, differs in FIELD.
control() {
	printf '#!/bin/sh\nbwrap=%s\n%s\n' "$reference" "$3" >"$work/bin/altered"
	chmod 755 "$work/bin/altered"
	said=$(DIFF_ROWS=$2 compare user "$work/bin/altered" /dev/null control)
	like "control: $1" "$said" "*# [-+]$1 *"
}

if [ -z "${DIFF_ROWS:-}" ]; then
	said=$(DIFF_ROWS='control.*' compare user "$reference" /dev/null control)
	unlike "control: the reference is as the reference" "$said" '*fail control*'
	# shellcheck disable=SC2016
	while IFS='|' read -r field row script; do
		control "$field" "$row" "$script"
	done <<-'EOT'
	exit|control.probe|$bwrap "$@"; exit 3
	exit|control.fails|$bwrap "$@"; exit 0
	stdout|control.shell|$bwrap "$@"; echo more
	stderr|control.shell|$bwrap "$@"; echo more >&2
	error|control.fails|echo "bwrap: Something else: No such file or directory" >&2; exit 1
	error|control.fails|$bwrap "$@" 2>&1 | sed 's/: No such.*/: Permission denied/' >&2; exit 1
	out3|control.info|exec $bwrap "$@" 3>/dev/null
	mount|control.probe|shift 3; exec $bwrap --bind / / "$@"
	mount|control.probe|shift 3; exec $bwrap --ro-bind / / --tmpfs /mnt "$@"
	env|control.probe|exec env MORE=1 $bwrap "$@"
	id|control.probe|exec $bwrap --unshare-user --uid 7 "$@"
	map|control.probe|exec $bwrap --unshare-user --gid 7 "$@"
	cap|control.probe|exec $bwrap --cap-add CAP_CHOWN "$@"
	sec|control.probe|exec $bwrap --die-with-parent "$@"
	pid|control.probe|exec $bwrap --new-session "$@"
	fd|control.probe|exec $bwrap "$@" 9</dev/null
	cwd|control.probe|exec $bwrap --chdir / "$@"
	hostname|control.probe|exec $bwrap --unshare-uts --hostname other "$@"
	ns|control.probe|exec $bwrap --unshare-ipc "$@"
	net|control.probe|exec $bwrap --unshare-net "$@"
	umask|control.probe|umask 027; exec $bwrap "$@"
	limit|control.probe|ulimit -n 100; exec $bwrap "$@"
	signal|control.probe|trap "" USR1; exec $bwrap "$@"
	ls|control.tree|exec $bwrap --dir /t/more "$@"
	host|control.probe|echo >more; exec $bwrap "$@"
	left|control.probe|sleep 5 & exec $bwrap "$@"
	argv|control.probe|exec $bwrap "$@" more
	EOT
fi

# The verdict on one row, and why, which DIFF_SHOW gives for a good one too.
say() {
	$verdict "$caller $name" "$why"
	[ "$verdict" != pass ] || [ -z "$why" ] || diag "$why"
}

for caller in $callers; do
	compare "$caller" "$work/bin/oc-bwrap" "$accepted" run \
		>"$work/verdicts.$caller"
	n=0
	verdict='' name='' why=''
	# A verdict ends where the next one begins.
	while IFS= read -r line || [ -n "$line" ]; do
		case $line in
		'#'*) why="$why${why:+
}${line#\# }"; continue ;;
		esac
		[ -z "$verdict" ] || say
		verdict=${line%% *} name=${line#* } why='' n=$((n + 1))
	done <"$work/verdicts.$caller"
	[ -z "$verdict" ] || say
	[ $n != 0 ] || fail "$caller: no row was run"
done

# A difference that is gone is taken off the list.
if [ -z "${DIFF_ROWS:-}${DIFF_PROGRAM:-}" ]; then
	for caller in $callers; do
		cat "$work/$caller/run/used"
	done | sort -u >"$work/used"
	stale=$(awk -v callers=" $callers " '
	FILENAME != ARGV[2] { used[$1] = 1; next }
	/^#/ || NF == 0 || FNR in used || $4 == "perhaps:" { next }
	$1 ~ /^root:/ && callers !~ / root / { next }
	{ print FNR ": " $0 }' "$work/used" "$accepted")
	is "every difference of the list is one" "$stale" ''
fi
done_testing
