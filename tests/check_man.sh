#!/bin/sh
# The manual pages: clean mdoc, the same words as the code's tables and what the
# program writes, and examples that do what they show.
. "${srcdir:?}"/tests/lib.sh
. "$srcdir"/tests/pages.sh

pages=$(ls "$man" | grep '\.[1-8]$')
# Names behind a macro, of `.It Va uid , Va gid Pq number` two; on stdin.
items() {
	sed -n "s/^\\.It $1 //p" | sed 's/ Pq .*//; s/ Ta .*//' |
		tr -s ', ' '\n\n' | grep -vx "$1"
}
# The first words in double quotes between two patterns of a file.
table() { sed -n "/$2/,/$3/s/^[^\"]*\"\\([^\"]*\\)\".*/\\1/p" "$1"; }
# The fields that a file writes with json.h.
fields() {
	tr '\n\t' '  ' <"$1" |
		grep -o '\(json_[a-z]*\|put_[a-z]*\)([^",]*, *"[a-z_0-9]*"' |
		sed 's/.*"\(.*\)"/\1/'
}
keys() { grep -o '"[a-z_0-9]*": ' | sed 's/"\(.*\)": /\1/'; }

# within WHAT WORDS FILE: each word stands in the file, as a word
within() {
	missing=
	for word in $2; do
		tr -cs 'A-Za-z0-9_/.-' '\n' <"$3" | sed 's/\.$//' |
			grep -qxF -e "$word" || missing="$missing $word"
	done
	if [ -z "$2" ]; then
		fail "$1" "nothing to look for: this test is blind"
	elif [ "$missing" ]; then
		fail "$1" "not there:$missing"
	else
		pass "$1"
	fi
}

# The form.
echo "$pages" >"$work"/pages
same "each page is installed" "$(sed -n \
	's|.*%reldir%/\([a-z.-]*\.[1-8]\).*|\1|p' "$man"/Makefile.inc)" "$pages"
for page in $pages; do
	name=$(echo "${page%.*}" | tr a-z A-Z)
	is "$page: its title" "$(grep '^\.Dt' "$man/$page")" \
		".Dt $name ${page##*.}"
	if command -v mandoc >/dev/null; then
		is "$page: mandoc -Tlint" \
			"$(mandoc -Tlint -Wwarning "$man/$page" 2>&1)" ""
	else
		skip "$page: mandoc -Tlint" "mandoc is not here"
	fi
	if command -v groff >/dev/null; then
		is "$page: groff" \
			"$(groff -mandoc -Tutf8 -z "$man/$page" 2>&1)" ""
	else
		skip "$page: groff" "groff is not here"
	fi
done
within "references lead to pages" "$(cd "$man" && sed -n \
	's/^\.Xr \(oc-[a-z]*\|nsrun[a-z-]*\) \([1-8]\).*/\1.\2/p' $pages |
	sort -u)" "$work"/pages

# oc-nsrun(1)
help=$($oc --help)
same "oc-nsrun.1: options" \
	"$(sed -n 's/^\.It Fl \(-[a-z-]*\).*/-\1/p' "$man"/oc-nsrun.1)" \
	"$(echo "$help" | grep -o -e '--[a-z][a-z-]*')"
same "oc-nsrun.1: subcommands" \
	"$(section oc-nsrun.1 DESCRIPTION | sed -n '/^\.Ss/q
		s/^\.It Cm \([a-z]*\).*/\1/p')" \
	"$(echo "$help" | sed -n 's/.*oc-nsrun \([a-z][a-z]*\) .*/\1/p')"

# nsrun-profiles(5)
profile=$srcdir/lib/host/profile.c
same "nsrun-profiles.5: keywords" \
	"$(section nsrun-profiles.5 KEYWORDS |
		sed -n 's/^\.It Ic \([a-z-]*\).*/\1/p')" \
	"$(table "$profile" '^} lists\[\] = {' '^};'
	table "$profile" '^} keywords\[\] = {' '^};')"
same "nsrun-profiles.5: limits" \
	"$(section nsrun-profiles.5 LIMITS |
		sed -n 's/^\.It Cm \([a-z-]*\) Pq Dv \([A-Z_]*\) .*/\1=\2/p')" \
	"$(sed -n 's/.*\[NSRUN_LIMIT_.*{ "\(.*\)", \(RLIMIT_[A-Z]*\),.*/\1=\2/p' \
		"$srcdir"/lib/plan/limits.c)"
section nsrun-profiles.5 LIMITS >"$work"/page
within "nsrun-profiles.5: the limits that are not setrlimit(2)'s" \
	"$(sed -n 's/.*\[NSRUN_LIMIT_.*{ "\(.*\)", -1,.*/\1/p' \
		"$srcdir"/lib/plan/limits.c)" "$work"/page
$oc policy show shell >"$work"/shell
same "nsrun-profiles.5: values of limits" \
	"$(section nsrun-profiles.5 LIMITS |
		sed -n 's/^\.It Cm \([a-z-]*\) .*No \([0-9A-Z]*\)$/\1=\2/p')" \
	"$(awk '$1 == "limit" { print $2 "=" $3 }' "$work"/shell)"
section nsrun-profiles.5 "THE SHELL PROFILE" >"$work"/page
within "nsrun-profiles.5: what shell shows" "$(awk '{ sub(/ *[ \t]#.*/, "") }
	$1 == "private" && $2 ~ /^\// || $1 == "tmpfs" { print $2 }
	$1 ~ /^(system|merged|toolchain|device|control|cover|mask)$/ {
		for (i = 2; i <= NF; i++)
			print $i
	}' "$work"/shell)" "$work"/page
environment=$srcdir/lib/host/envpolicy.c
same "nsrun-profiles.5: the environment" \
	"$(section nsrun-profiles.5 ENVIRONMENT |
		sed -n 's/^\.Ev \([^ ]*\).*/\1/p')" \
	"$(sed -n '/^static const char \*const .*\[\] = {/,/};/p' \
		"$environment" | grep -o '"[^"]*"' | tr -d '"'
	table "$environment" '} own\[\] = {' '};')"

# nsrun-session(7)
same "nsrun-session.7: variables" \
	"$(section nsrun-session.7 ENVIRONMENT | items Ev)" \
	"$(grep -o '"OPENCLAUDIA_[A-Z_]*"' "$srcdir"/lib/host/grants.c |
		tr -d '"')"
same "nsrun-session.7: keywords" \
	"$(subsection nsrun-session.7 "The configuration" |
		sed -n 's/^\.It Ic \([a-z-]*\).*/\1/p')" \
	"$(table "$srcdir"/lib/host/config.c '^} lists\[\] = {' '^};'
	table "$srcdir"/lib/host/config.c '^} keywords\[\] = {' '^};')"
is "nsrun-profiles.5: the profiles" \
	"$(section nsrun-profiles.5 "THE PROFILES" |
		sed -n 's/^\.It Cm \([a-z-]*\) Ta.*/\1/p' | sort)" \
	"$($oc policy list | sed -n 's/^profile //p' | sort)"

# nsrun-policy(5)
same "nsrun-policy.5: keywords" \
	"$(section nsrun-policy.5 SYNTAX |
		sed -n 's/^\.It Ic \([a-z]*\).*/\1/p')" \
	"$(table "$srcdir"/policy/parse.c '} keywords\[\] = {' '};')"
same "nsrun-policy.5: constants" \
	"$(subsection nsrun-policy.5 CONSTANTS | grep -o '[A-Z][A-Z0-9_]\{4,\}' |
		grep -vx 'O_TMPFILE\|O_DIRECTORY')" \
	"$(sed -n '/^static const struct constant constants/,/^};/p' \
		"$srcdir"/policy/constants.c |
		grep -o 'SAME([A-Z0-9_]*)\|"[A-Z0-9_]*"' |
		sed 's/SAME(//' | tr -d '")')"
for filter in $($oc policy show | sed -n 's/^filter //p'); do
	$oc policy show "$filter" >"$work"/filter
	within "nsrun-policy.5: what $filter refuses" "$(sed 's/#.*//' \
		"$work"/filter | awk '$1 ~ /^E[A-Z]+$/ {
			for (i = 2; i <= NF && $i != "if"; i++) {
				sub(/=.*/, "", $i)
				print $i
			}
		}')" "$man"/nsrun-policy.5
	for variant in $(sed -n 's/^variant \([a-z]*\).*/\1/p' "$work"/filter); do
		ok "nsrun-policy.5: variant $variant" \
			grep -qx "\.Ss Variant $variant" "$man"/nsrun-policy.5
	done
done

# nsrun-status(5)
same "nsrun-status.5: steps and categories" \
	"$(section nsrun-status.5 STEPS |
		sed -n 's/^\.It Cm \([a-z]*\) Ta \([a-z-]*\) Ta.*/\1:\2/p')" \
	"$(sed -n 's/.*\[NSRUN_STEP_.*{ "\([a-z]*\)", "\([a-z-]*\)" },/\1:\2/p' \
		"$srcdir"/lib/base/err_print.c | grep -vx nothing:none)"
same "nsrun-status.5: fields of records" \
	"$(section nsrun-status.5 RECORDS | items Va)" \
	"$(fields "$srcdir"/lib/run/status.c
	echo v event | tr ' ' '\n'
	echo filters name variant sha256 shields hazard path | tr ' ' '\n')"
same "nsrun-status.5: fields of the log" \
	"$(section nsrun-status.5 LOG | items Va)" \
	"$(fields "$srcdir"/lib/run/log.c
	echo v event filters | tr ' ' '\n')"
same "nsrun-status.5: fields of the plan" \
	"$(section nsrun-status.5 PLAN | items Va
	echo name variant sha256)" \
	"$(fields "$srcdir"/lib/plan/print_json.c)"
same "nsrun-status.5: fields of scan" \
	"$(section nsrun-status.5 SCAN | items Va)" \
	"$(fields "$srcdir"/helper/scan.c)"
same "nsrun-status.5: fields of doctor" \
	"$(section nsrun-status.5 DOCTOR | items Va)" \
	"$(fields "$srcdir"/helper/doctor.c
	fields "$srcdir"/helper/doctor_session.c)"
same "nsrun-status.5: kinds of mounts" \
	"$(section nsrun-status.5 PLAN | items Li)" \
	"$(table "$srcdir"/lib/plan/names.c '\[NSRUN_MOUNT_ROOT\]' '};')"
within "nsrun-status.5: features and fallbacks" \
	"$(tr '\n\t' '  ' <"$srcdir"/lib/host/build.c |
		grep -o 'add_f[a-z]*(plan, *"[a-z-]*"' | sed 's/.*"\(.*\)"/\1/')" \
	"$man"/nsrun-status.5

# nsrun(3)
functions=$(sed -n 's/^	\(nsrun_[a-z_]*\);$/\1/p' "$srcdir"/lib/nsrun.map)
same "nsrun.3: functions" "$(section nsrun.3 SYNOPSIS |
	sed -n 's/^\.F[no] \([a-z_]*\).*/\1/p')" "$functions"
same "nsrun.3: names" "$(section nsrun.3 NAME |
	sed -n 's/^\.Nm \([a-z_]*\).*/\1/p')" "$functions"
within "nsrun.h: functions" "$functions" "$srcdir"/lib/nsrun.h
constants='NSRUN_\(STEP\|FORMAT\|REASON\)_[A-Z]*'
same "nsrun.3: constants" "$(grep -o "$constants" "$man"/nsrun.3)" \
	"$(grep -o "$constants" "$srcdir"/lib/nsrun.h)"
within "nsrun.3: members" "$(sed -n '/^struct nsrun_[a-z]* {/,/^};/p' \
	"$srcdir"/lib/nsrun.h |
	sed -n 's/^	.*[	 ]\([a-z_]*\)\(\[[0-9]*\]\)\{0,1\};.*/\1/p')" \
	"$man"/nsrun.3
within "nsrun.3: names of options" "$(table "$srcdir"/lib/host/request.c \
	'nsrun_request_words\[\] = {' '^};')" "$man"/nsrun.3

# nsrun-from-bwrap(7): all that bubblewrap has, and nothing of ours.
cp "$top_builddir"/helper/oc-bwrap "$work"/oc-bwrap || exit 99
same "nsrun-from-bwrap.7: options" \
	"$(section nsrun-from-bwrap.7 OPTIONS | grep '^\.It Fl' |
		sed 's/ Ta .*//' | tr ' ' '\n' | sed -n 's/^-\([a-z]\)/--\1/p')" \
	"$("$work"/oc-bwrap --help | sed -n 's/^ *\(--[a-z0-9-]*\).*/\1/p' |
		grep -vx -e --netns -e --forward-signals -e --rlimit \
		-e --kill-on-exit -e --pty -e --noexec -e --uid-map \
		-e --gid-map -e --strict-destinations \
		-e --json-status-extended)"

prepare_project() {
	as "$1" sh -c 'mkdir -p .git/hooks ../data &&
		echo forty-two >../data/input &&
		echo "int main(void) { return 0; }" >main.c &&
		printf "check:\n\t@echo checked\n" >Makefile &&
		echo secret >"$HOME"/.netrc'
}

printf '\006\0\0\0\0\0\377\177' >"$work"/filter
# Each record has only the fields of its own subsection.
check_records() {
	for how in "--on-hazard shield -- true" "-- sh -c 'kill \$\$'" \
	    "--timeout 100ms -- sleep 9" "--max-output 3 -- echo 12345" \
	    "-- ./no-such-file"; do
		case $how in *shield*) as "$1" mkfifo fifo ;; esac
		as "$1" sh -c "$oc run --project . --status-fd 3 $how 3>&1 \
			>/dev/null 2>/dev/null; rm -f fifo"
	done >"$work"/records
	events=$(sed -n 's/.*"event": "\([a-z]*\)".*/\1/p' "$work"/records)
	same "$1: every record was seen" "started limit exited failed" "$events"
	for event in $(list $events); do
		subsection nsrun-status.5 "$event" | grep '^\.\(It \)*Va' \
			>"$work"/page
		echo v event >>"$work"/page
		within "$1: record $event" "$(grep "\"event\": \"$event\"" \
			"$work"/records | keys)" "$work"/page
	done
	section nsrun-status.5 PLAN >"$work"/page
	sed -n 's/^\.It Cm \([a-z-]*\) .*/\1/p' "$man"/nsrun-profiles.5 \
		>>"$work"/page
	within "$1: explain --json" "$(as "$1" "$oc" explain --json --project . \
		--ro ../data -- true | keys)" "$work"/page
	within "$1: explain --json bwrap" "$(as "$1" "$oc" explain --json bwrap \
		--unshare-all --hostname h --unshare-user --disable-userns \
		--netns 3 --userns2 3 --share-net --block-fd 3 --sync-fd 3 \
		--lock-file l --info-fd 3 --forward-signals --argv0 a \
		--cap-add ALL --new-session --strict-destinations \
		--perms 0700 --size 4096 --noexec --tmpfs /t --chmod 0700 /t \
		--overlay-src /a --overlay u w /o --dev-bind-try /dev /dev \
		--file 4 /f --add-seccomp-fd 5 --rlimit cpu=1 \
		-- true 3</dev/null 4</dev/null 5<"$work"/filter | keys)" \
		"$work"/page
	section nsrun-status.5 SCAN >"$work"/page
	sed -n '/^\.Ss Hazards/,/^\.Ss Root/s/^\.It Cm \([a-z-]*\)\(.*\)/\1\2/p' \
		"$man"/oc-nsrun.1 >>"$work"/page
	within "$1: scan --json" "$(as "$1" sh -c "mkdir scanned &&
		cd scanned && echo >a && ln a ../a && $oc scan --json .
		rm -r ../a ../scanned" | keys)" "$work"/page
	section nsrun-status.5 DOCTOR >"$work"/page
	within "$1: doctor --json" "$(as "$1" "$oc" doctor --json | keys)" \
		"$work"/page
}

# The programs of nsrun(3), each to $work/program.N
compile_programs() {
	lib=$top_builddir/.libs
	literal nsrun.3 | awk -v base="$work/program." '
		/^\.Bd/ { n++; next }
		/^\.Ed/ { next }
		{ print >(base n ".c") }'
	[ -s "$work"/program.2.c ] || { fail "nsrun.3: programs" "none"; return 1; }
	if ! command -v "${CC:-cc}" >/dev/null; then
		skip "nsrun.3: programs" "no compiler"
	elif ! [ -e "$lib"/libnsrun.so ]; then
		skip "nsrun.3: programs" "no shared library in $lib"
	elif grep -q __asan_init "$lib"/libnsrun.so; then
		skip "nsrun.3: programs" "the library is built with sanitizers"
	else
		(set +f; cp "$lib"/libnsrun.so* "$work")
		for n in 1 2; do
			ok "nsrun.3: program $n compiles" "${CC:-cc}" -Wall -Wextra \
				-Werror -I"$srcdir"/lib -o "$work"/program.$n \
				"$work"/program.$n.c -L"$work" -lnsrun
		done
		return
	fi
	return 1
}
compile_programs && compiled=y || compiled=

for caller in $callers; do
	why=$(as $caller unshare -U -r -m -p -n -f true 2>&1) || {
		skip "$caller: records and examples" "no namespaces here: $why"
		continue
	}
	ok "$caller: a project" prepare_project $caller
	check_records $caller
	for page in oc-nsrun.1 nsrun-from-bwrap.7; do
		(set +f; rm -f "$work"/example.*)
		examples $page
		run_examples $caller
	done
	if why=$(as $caller sh -c 'mkdir l u w m && unshare -U -r -m mount -t \
	    overlay overlay -o lowerdir=l,upperdir=u,workdir=w,userxattr m
	    rc=$?; rm -rf l u w m; exit $rc' 2>&1); then
		(set +f; rm -f "$work"/example.*)
		examples oc-nsrun-diff.1
		run_examples $caller
	else
		skip "$caller: examples of oc-nsrun-diff.1" "no overlays: $why"
	fi
	[ $compiled ] || continue
	status "$caller: the first program of nsrun.3" 7 as $caller \
		env LD_LIBRARY_PATH="$work" "$work"/program.1 . sh -c 'exit 7'
	status "$caller: its own failure" 125 as $caller \
		env LD_LIBRARY_PATH="$work" "$work"/program.1 / true
	is "$caller: the second: a session" "$(printf '%s\n' \
		'echo one >$TMPDIR/f' 'cat $TMPDIR/f; test ! -e .env; exit 3' |
		as $caller sh -c "echo secret >.env; LD_LIBRARY_PATH=$work \
		exec $work/program.2 ." 2>&1)" "status 0
one
status 3"
	status "$caller: ... which fails" 125 as $caller \
		env LD_LIBRARY_PATH="$work" "$work"/program.2 /
done
done_testing
