# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh disable=SC2034,SC2154
# Sourced by the drivers of the adversarial suite, after tests/lib.sh.
#
#	. "$srcdir"/tests/escape/escape.sh
#	for mode in $modes; do
#		stage $mode			# files and a sentinel to attack
#		for net in denied isolated; do
#			run_rows 'NS|SEC'	# of checks.rows
#		done
#	done
#	finish
#
# A mode is who calls and how: root (which leaves uid 0), keep (root with --as
# keep), user. launch WHERE CMD... runs a command as this mode in the sandbox,
# outside it, or in one that was weakened; see checks.rows for the words.
# $prefix stands before the launcher, $options among its options.

bin=$top_builddir/tests/escape
for program in probe aide weak; do
	[ -x "$bin/$program" ] || { echo "Bail out! no $program"; exit 99; }
done
need_sandbox
modes=
for caller in $callers; do
	modes="$modes $caller"
	[ "$caller" = root ] && modes="$modes keep"
done
mkdir "$work/bin" && cp "$bin/probe" "$bin/aide" "$bin/weak" "$work/bin" ||
	exit 99
aide=$work/bin/aide weak=$work/bin/weak
arch=$(uname -m)
# In two parts: what looks for the whole must be no place to find it.
head=escape-secret tail=-$$-$(od -An -N4 -tx4 /dev/urandom | tr -d ' ')
net=denied corefile=0
options='' prefix='' params='' sentinels=''

# Who is the caller of a mode?
caller_of() {
	case $1 in
	keep) echo root ;;
	*) echo "$1" ;;
	esac
}

# own FILE...: they become the caller's
own() {
	[ "$(id -u)" = 0 ] && [ "$who" = user ] &&
		chown -R "$user_id:$user_id" "$@"
	return 0
}

# What may be attacked, new: controls do change it.
refresh() {
	rm -rf "$dir/ro" "$dir/outside" "$project/.git"
	mkdir -p "$dir/ro/inner-rw" "$dir/outside" "$project/inner-ro" \
		"$project/.git" "$project/.claude"
	for file in ro/file ro/file2 ro/victim ro/inner-rw/file \
	    outside/secret home/neighbour home/project/inner-ro/file \
	    home/project/.git/config; do
		echo "$file of $who" >"$dir/$file"
	done
	own "$dir/ro" "$dir/outside" "$dir/home/neighbour" \
		"$project/inner-ro" "$project/.git" "$project/.claude"
	chmod 755 "$dir/ro" "$dir/outside"
	if [ "$(id -u)" = 0 ]; then
		cp "$bin/probe" "$dir/ro/suid-probe" &&
			chmod 4755 "$dir/ro/suid-probe"
	fi
}

# A process outside that is never to be reached. Its environment and argv hold
# the secret, its numbers and addresses go to the probe.
start_sentinel() {
	cp "$bin/aide" "$dir/sentinel" && own "$dir/sentinel"
	as "$who" env "ESCAPE_SECRET=$head$tail" "$dir/sentinel" sentinel "$dir/log" \
		"$dir/sockets" "escape-marker-$$" </dev/null >/dev/null 2>&1 &
	sentinels="$sentinels $!"
	for _ in $(seq 100); do
		[ -s "$dir/log/facts" ] && return
		sleep 0.05
	done
	echo "Bail out! the sentinel does not start"
	exit 99
}

# SIGRTMAX: it removes what it made. Only ever to what we started.
stop_sentinels() {
	for pid in $sentinels; do
		kill -64 "$pid" 2>/dev/null
	done
	sentinels=''
}
# Redefined: cleanup of lib.sh runs at the exit.
cleanup() {
	stop_sentinels
	cd / && rm -rf --one-file-system "$work"
}

# stage MODE
stage() {
	mode=$1 who=$(caller_of "$1") as_option=
	[ "$mode" = keep ] && as_option='--as keep'
	dir=$work/$who home=$(home "$who") project=$(project "$who")
	mkdir -p "$dir/log" "$dir/sockets"
	own "$dir/log" "$dir/sockets"
	cp "$bin/probe" "$bin/aide" "$project" || exit 99
	own "$project/probe" "$project/aide"
	refresh
	[ -s "$dir/log/facts" ] || start_sentinel
	facts=$(cat "$dir/log/facts")
	case $who in
	root) outer=0 ;;
	*) outer=$user_id; [ "$(id -u)" = 0 ] || outer=$(id -u) ;;
	esac
	# shellcheck disable=SC2046
	set -- $(stat -c '%d %i' /)
	facts="$facts head=$head tail=$tail outer=$outer outergid=$outer
		home=$home project=$project ro=$dir/ro outside=$dir/outside
		suid=$dir/ro/suid-probe rootdev=$1 rootino=$2 maxfd=1100"
	[ "$(id -u)" = 0 ] || facts="$facts outergid=$(id -g)"
}

# launch WHERE CMD...
launch() {
	where=$1; shift
	grants="--project $project --ro $dir/ro --ro $dir/sockets
		--network $net $as_option $options"
	# shellcheck disable=SC2086
	case $where in
	sandbox) as "$who" $prefix "$oc" run $grants -- "$@" ;;
	denied) as "$who" $prefix "$oc" run $grants --network denied -- "$@" ;;
	outside | nomap) as "$who" $prefix "$@" ;;
	userns) as "$who" unshare -U -r -m -n -p -i -u -C -f --mount-proc \
		--propagation shared "$@" ;;
	*) as "$who" $prefix "$weak" --weak "$where" $grants -- "$@" ;;
	esac
}

# probe WHERE ID...: in the words of where it runs
probe() {
	where=$1; shift
	case $where in
	outside | userns | nomap)
		words="victim=child pid1=$(sed -n 's/^sentinel=//p' \
			"$dir/log/facts")"
		[ "$where" = nomap ] && words="$words fresh=1" ;;
	*) words="victim=1 pid1=1" ;;
	esac
	# shellcheck disable=SC2086
	launch "$where" timeout 100 "$project/probe" $facts $words \
		net=$net $params "$@" </dev/null
}

# What must be as it was: names, inodes, times, content.
host_state() {
	find "$dir/ro" "$dir/outside" "$dir/home/neighbour" \
		"$project/.git" "$project/.claude" "$project/inner-ro" \
		-printf '%P %y %i %T@ %s %m %U %G\n' | sort
	cat "$dir/ro/file" "$dir/outside/secret" "$project/.git/config"
	find "$project" -perm /6000 -printf 'setid %P %m\n'
	cat "$dir/log/events"
	cksum <"$oc"
	stat -c '%a %u %g' /dev/null /dev/zero /dev/full
}

# select_rows REGEX: those of this mode and network
select_rows() {
	awk -v want="^($1)" -v mode="$mode" -v net="$net" -v arch="$arch" \
		-v corefile="$corefile" '
	function has(list, word) { return index("," list ",", "," word ",") }
	/^#/ || NF < 6 || $1 !~ want { next }
	{
		m = $2
		if ((has(m, "root") || has(m, "keep") || has(m, "user")) &&
		    !has(m, mode)) next
		if ((has(m, "denied") || has(m, "isolated")) && !has(m, net))
			next
		if (has(m, "nested")) next
		if (has(m, "corefile") && !corefile) next
		if (has(m, "x86_64") && arch != "x86_64") next
		print
	}' "$srcdir"/tests/escape/checks.rows
}

# Column 3 or 5: each place, with the checks that are to run there.
run_column() {
	# A row whose control is the sandbox's own needs no second run.
	for where in $(awk -v c="$1" '{ print $c }' "$work/rows" | sort -u); do
		[ -s "$work/out.$where" ] && [ "$1" = 5 ] && refresh
		ids=$(awk -v c="$1" -v w="$where" '$c == w { print $1 }' \
			"$work/rows")
		[ "$1" = 5 ] && refresh
		# shellcheck disable=SC2086
		probe "$where" $ids >>"$work/out.$where" 2>"$work/err.$where"
	done
}

verdicts='
function name(file) { sub(/.*\/out\./, "", file); return file }
function short(r, e) { return e == "-" || e == "" ? r : r ":" e }
function matches(got, want, not,    part, n, i) {
	n = split(want, part, "/")
	for (i = 1; i <= n; i++)
		if (got == part[i] || (part[i] == "other" && got != not))
			return 1
	return 0
}
FILENAME ~ /\/out\./ {
	key = name(FILENAME) SUBSEP $1
	seen[key] = short($2, $3)
	text = $0
	sub(/^[^ ]+ [^ ]+ [^ ]+ ?/, "", text)
	detail[key] = text
	next
}
{
	a = $3 SUBSEP $1; b = $5 SUBSEP $1
	optional = sub(/\?$/, "", $6)
	todo = index("," $2 ",", ",todo,") ? "todo" : "fail"
	line = $1 " in " $3 ": " seen[a] ", in " $5 ": " seen[b]
	if (seen[a] == "" )
		print "fail|" line "|no result in " $3
	else if (seen[a] ~ /^n.a/)
		print "skip|" $1 "|" detail[a]
	else if (!matches(seen[a], $4, ""))
		print todo "|" line "|want " $4 ": " detail[a]
	else if (seen[b] ~ /^n.a/ || (optional && !matches(seen[b], $6, seen[a])))
		print "skip|" $1 "|no control, " $5 ": " seen[b] " " detail[b]
	else if (!matches(seen[b], $6, seen[a]) || seen[b] == "" ||
	    seen[a] == seen[b])
		print "fail|" line "|the control wants " $6 ": " detail[b]
	else
		print (todo == "todo" ? "fixed|" : "pass|") line "|" detail[a]
}'

# run_rows REGEX: of checks.rows, here and there, and the host's state
run_rows() {
	rm -f "$work"/out.* "$work"/err.*
	select_rows "$1" >"$work/rows"
	[ -s "$work/rows" ] || { fail "$mode $net: no rows for $1"; return; }
	refresh
	: >>"$dir/log/events"
	host_state >"$work/before" 2>&1
	run_column 3
	host_state >"$work/after" 2>&1
	run_column 5
	awk "$verdicts" "$work"/out.* "$work/rows" >"$work/verdicts"
	while IFS='|' read -r verdict text why; do
		case $verdict in
		pass) pass "$mode $net $text" ;;
		fixed) pass "$mode $net $text # TODO $why" ;;
		todo) todo "$mode $net $text" "$why" ;;
		skip) skip "$mode $net $text" "$why" ;;
		*) fail "$mode $net $text" "$why" \
			"$(cat "$work"/err.* | head -5)" ;;
		esac
	done <"$work/verdicts"
	if cmp -s "$work/before" "$work/after"; then
		pass "$mode $net: nothing outside has changed"
	else
		fail "$mode $net: nothing outside has changed" \
			"$(diff "$work/before" "$work/after")"
	fi
}

# A hole that is known and told to the maintainers: see checks.rows.
todo() {
	tests=$((tests + 1))
	echo "not ok $tests - $1 # TODO $2"
}

# known WHAT GOT WANT: as is, for a hole that is known
known() {
	if [ "$2" = "$3" ]; then
		pass "$1 # TODO is mended"
	else
		todo "$1" "got $2, want $3"
	fi
}

# The sentinel is a witness only if it sees what the controls did.
sentinel_saw() {
	if grep -q "$1" "$dir/log/events"; then
		pass "$mode: the sentinel would have seen it ($1)"
	else
		fail "$mode: the sentinel would have seen it ($1)" \
			"$(cat "$dir/log/events")"
	fi
}

finish() {
	stop_sentinels
	done_testing
}
