#!/bin/sh
# explain, doctor, policy: what is said agrees with what is done.
. "${srcdir:?}"/tests/lib.sh

for caller in $callers; do
	p=$(project "$caller")
	mkdir -p "$p/.git"
	explain() { as "$caller" "$oc" explain "$@"; }
	before=$(find "$p" | sort)
	tree=$(explain --project . -- true)
	like "$caller: the tree names the project" "$tree" "*project *rw *pinned*"
	like "$caller: ... and its control names" "$tree" "*.git *ro *control*"
	like "$caller: ... and the filter" "$tree" "shell*seccomp-1 denied*"
	unlike "$caller: no colour but on a terminal" "$tree" "*$(printf '\033')*"
	is "$caller: explain changes nothing" "$(find "$p" | sort)" "$before"
	like "$caller: --json" "$(explain --json --project . -- true)" '{"v": 1, "profile": "shell"*}'
	unlike "$caller: values of variables are not shown" \
		"$(explain --json --env A=canary -- true; explain --env A=canary -- true)" "*canary*"
	like "$caller: --network isolated" "$(explain --network isolated -- true)" "*seccomp-1 isolated*"
	status "$caller: a refusal" 125 explain --project /usr -- true
	# What is below one root is not shown below its neighbour.
	as "$caller" mkdir -p app/.git app-data
	is "$caller: the tree's order" "$(explain --project "$p/app" --ro "$p/app-data" -- true |
		grep -oE '(app|app-data|[.]git) +(rw|ro) ' | tr -s ' \n' ' ')" \
		"app rw .git ro app-data ro "
	if command -v git >/dev/null; then
		as "$caller" git init -q "$p/repo"
		is "$caller: the view of a repository is one line, read-only" \
			"$(explain --project "$p/repo" -- true |
			grep -oE '[.]git +(rw|ro) ' | tr -s ' ')" ".git ro "
	else
		skip "$caller: the view of a repository" "no git"
	fi
	for word in run explain doctor policy; do
		like "$caller: $word --help" "$(as "$caller" "$oc" $word --help 2>&1)" "usage: *"
	done

	names=$(as "$caller" "$oc" policy show)
	like "$caller: policy show lists" "$names" "*filter seccomp-1*"
	like "$caller: ... profiles too" "$names" "*profile shell*"
	as "$caller" "$oc" policy show shell >"$work/shell"
	ok "$caller: a profile is shown as written" cmp "$work/shell" "$srcdir/policy/profiles/shell.profile"
	as "$caller" "$oc" policy show seccomp-1 | grep -v '^# seccomp-1 .* sha256' >"$work/filter"
	ok "$caller: a filter is shown as written" cmp "$work/filter" "$srcdir/policy/seccomp-1.policy"
	status "$caller: policy show of nothing" 125 as "$caller" "$oc" policy show bogus
	status "$caller: policy alone" 125 as "$caller" "$oc" policy
done

# doctor: a copy that others could replace is not healthy, and that is told.
for caller in $callers; do
	said=$(as "$caller" "$oc" doctor); rc=$?
	is "$caller: doctor is not content with a test's copy" "$rc" 1
	like "$caller: ... and says why" "$said" "*FAIL  installation:*"
	like "$caller: ... and what to do" "$said" "*make install*"
	if [ -x /usr/bin/python3 ]; then
		ok "$caller: doctor --json" sh -c "$oc doctor --json | /usr/bin/python3 -c 'import json, sys
d = json.load(sys.stdin)
assert d[\"v\"] == 1 and d[\"healthy\"] is False and len(d[\"checks\"]) > 4'"
	fi
	status "$caller: doctor takes no words" 125 as "$caller" "$oc" doctor now
done
done_testing
