# shellcheck shell=sh
# Sourced after lib.sh by the tests of homes: a home with something in it, and
# what it looks like from outside.
#
# $state	the state directory of the caller's launches
# run ARG...	oc-nsrun run for $caller, in its project, with that
# h		its home; p: its project

# furnish CALLER: as a person has it. Sets caller, h, p, state.
furnish() {
	caller=$1 h=$(home "$1") p=$(project "$1") state=$work/$1/state
	as "$caller" sh -c 'cd && umask 022 &&
		mkdir -p .claude/projects .config/gh .config/tool .ssh .ocp/keys \
			.local/share/x .local/bin dotfiles/git plain/deep &&
		chmod 700 .ssh .claude &&
		echo "{\"startups\": 0}" >.claude.json &&
		echo "{\"token\": \"host\"}" >.claude/.credentials.json &&
		chmod 600 .claude/.credentials.json .claude.json &&
		echo private-key >.ssh/id && chmod 600 .ssh/id &&
		echo gh-token >.config/gh/hosts.yml && echo t >.config/tool/rc &&
		echo one >.ocp/keys/one.json && echo two >.ocp/keys/two.json &&
		echo secret >dotfiles/git/credentials && ln -sfn ../dotfiles/git .config/git &&
		echo netrc >dotfiles/netrc && ln -sfn dotfiles/netrc .netrc &&
		echo data >plain/deep/file && ln -sfn plain link &&
		printf "#!/bin/sh\necho tool\n" >.local/bin/tool && chmod 755 .local/bin/tool'
}
run() { as "$caller" "$oc" run --stdin null --state-dir "$state" --project . "$@"; }

# Every name, kind, mode, owner, time and content of a tree but its projects.
tree() {
	(cd "$1" && find . -path ./project -prune -o -printf '%p %y %m %U:%G %s %T@ %l\n' | LC_ALL=C sort
	find . -path ./project -prune -o -type f -exec sha256sum {} + | LC_ALL=C sort) | sha256sum
}
