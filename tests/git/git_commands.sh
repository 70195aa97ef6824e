#!/bin/sh
# oc-nsrun git: the subcommands, in a main work tree, a linked one and a
# submodule; what only reads changes nothing, what writes does git's own work.
. "${srcdir:?}"/tests/lib.sh
. "$srcdir"/tests/git/repo.sh

plain() { as "$caller" git -C "$dir" "$@" 2>&1; }
ours() { as "$caller" "$oc" git --project "$dir" -- "$@" 2>&1; }
# clean WHAT DIR: nothing to see for git on the host
clean() { is "$caller: $1: status is clean" "$(as "$caller" git -C "$2" status --porcelain 2>&1)" ""; }
same_config() { is "$caller: $1: configuration and hooks as they were" "$(
	cat "$repo"/.git/config; ls -A "$repo"/.git/hooks)" "$config"; }

read_all() {
	for word in "status" "status --porcelain=v2 --branch" "diff" "diff HEAD" \
	    "log --oneline" "log -p" "show" "show --stat HEAD" "ls-files -s" \
	    "branch -a" "for-each-ref" "rev-parse HEAD" "stash list" \
	    "ls-tree -r HEAD" "cat-file -t HEAD" "blame -s $file" \
	    "describe --all" "reflog" "grep -n o"; do
		is "$caller: $1: git $word" "$(ours $word)" "$(plain $word)"
	done
}

for caller in $callers; do
	top=$(home "$caller") repo=$(project "$caller")
	make_repo "$caller" || { fail "$caller: a repository"; continue; }
	before=$(tree_hash "$top")
	dir=$repo file=one read_all main
	dir=$repo
	is "$caller: git worktree list" "$(ours worktree list | cut -d' ' -f1)" \
		"$(plain worktree list | cut -d' ' -f1)"
	dir=$top/linked file=one read_all linked
	dir=$repo/mod file=s read_all submodule
	is "$caller: reading changes nothing" "$(tree_hash "$top")" "$before"
	clean "after reading" "$repo"

	config=$(cat "$repo"/.git/config; ls -A "$repo"/.git/hooks)
	for dir in $repo $top/linked $repo/mod; do
		name=$(basename "$dir")
		as "$caller" sh -c 'echo new >"$1"/new; echo more >>"$1"/new' - "$dir"
		ok "$caller: $name: add" ours add new
		ok "$caller: $name: commit" ours commit -m "by oc-nsrun"
		is "$caller: $name: ... is in the log" "$(plain log -1 --format='%an %ae %s')" \
			"Tess Tester tess@example.org by oc-nsrun"
		ok "$caller: $name: checkout -b" ours checkout -b "topic-$name"
		is "$caller: $name: ... is the branch" "$(plain symbolic-ref --short HEAD)" "topic-$name"
		as "$caller" sh -c 'echo more >>"$1"/new' - "$dir"
		ok "$caller: $name: stash" ours stash
		[ "$name" = project ] || clean "$name: stashed" "$dir"
		ok "$caller: $name: stash pop" ours stash pop
		ok "$caller: $name: commit -a" ours commit -qam more
		ok "$caller: $name: branch" ours branch "other-$name"
		ok "$caller: $name: switch" ours switch -q "other-$name"
		ok "$caller: $name: tag" ours tag "tag-$name"
		ok "$caller: $name: reset" ours reset -q --hard HEAD~1
		ok "$caller: $name: merge" ours merge -q "topic-$name"
		ok "$caller: $name: mv" ours mv new newer
		ok "$caller: $name: commit" ours commit -qm renamed
		ok "$caller: $name: rm" ours rm -q newer
		ok "$caller: $name: restore" ours restore --staged --worktree .
		ok "$caller: $name: branch -D" ours branch -q -D "topic-$name"
		ok "$caller: $name: fsck" plain fsck --no-dangling
	done
	dir=$repo
	ok "$caller: main: the submodule's commit is added" ours add mod
	ok "$caller: main: ... and committed" ours commit -qm mod
	clean main "$repo"
	clean linked "$top/linked"
	same_config "all this"

	ok "$caller: worktree add, in the project" ours worktree add -q inner
	is "$caller: ... is one on the host" "$(as "$caller" git -C "$repo/inner" status --porcelain)" ""
	ok "$caller: ... and is worked in" as "$caller" sh -c 'cd "$1"/inner && echo i >i &&
		"$2" git -- add i && "$2" git -- commit -qm i' - "$repo" "$oc"
	ok "$caller: worktree remove" ours worktree remove inner
	as "$caller" mkdir -p "$top/trees"
	ok "$caller: worktree add, in a root" as "$caller" "$oc" git --project "$repo" --rw "$top/trees" \
		-- worktree add -q "$top/trees/x"
	ok "$caller: ... from a linked one" as "$caller" "$oc" git --project "$top/linked" \
		--rw "$top/trees" -- worktree add -q "$top/trees/y"
	ok "$caller: worktree remove, in a root" as "$caller" "$oc" git --project "$top/linked" \
		--rw "$top/trees" -- worktree remove "$top/trees/x"
	is "$caller: ... is gone" "$(ls "$top/trees")" y
	ok "$caller: work trees that are not granted are still known" test -d "$repo/.git/worktrees/linked"
	for word in prune repair move; do
		status "$caller: worktree $word" 125 ours worktree $word
	done

	# The profile by its name: git, and a deadline.
	for dir in $repo $top/linked; do
		name=$(basename "$dir")
		under() { as "$caller" "$oc" run --profile git-worktree --project "$dir" "$@" 2>&1; }
		as "$caller" sh -c 'echo under >"$1"/under' - "$dir"
		ok "$caller: git-worktree: $name: checkout -b" under -- git checkout -q -b "under-$name"
		ok "$caller: git-worktree: $name: add" under -- git add under
		ok "$caller: git-worktree: $name: commit" under -- git commit -qm under
		ok "$caller: git-worktree: $name: worktree add" under --rw "$top/trees" -- git worktree add -q "$top/trees/u"
		ok "$caller: git-worktree: $name: worktree remove" under --rw "$top/trees" -- git worktree remove "$top/trees/u"
		status "$caller: git-worktree: $name: no other command" 125 under -- sh -c 'git add .'
		clean "git-worktree: $name" "$dir"
	done
	dir=$repo
	same_config "git-worktree"

	# Fetching, from a granted repository and from no other.
	as "$caller" sh -c 'cd "$1/sub" && git push -q "$1/remote" main:refs/heads/fresh' - "$top"
	fails "$caller: fetch from what is not granted" ours fetch origin
	ok "$caller: fetch" as "$caller" "$oc" git --project "$repo" --ro "$top/remote" -- fetch -q origin
	is "$caller: ... has come" "$(plain rev-parse --verify -q origin/fresh)" \
		"$(as "$caller" git -C "$top/sub" rev-parse main)"
	ok "$caller: fetch a work tree, by its path, linked" as "$caller" "$oc" git \
		--project "$top/linked" --ro "$top/sub" -- fetch -q "$top/sub" main
	ok "$caller: fetch file://" as "$caller" "$oc" git --project "$repo" --ro "$top/sub" \
		-- fetch -q "file://$top/sub" main
	same_config "fetching"
	ok "$caller: fsck at the end" plain fsck --no-dangling

	# Where it is found, and what it is not.
	like "$caller: the project is found from below" \
		"$(as "$caller" sh -c 'cd dir && "$1" git -- rev-parse --show-toplevel' - "$oc")" "$repo"
	like "$caller: ... and paths are relative to where one is" \
		"$(as "$caller" sh -c 'cd dir && "$1" git -- ls-files' - "$oc")" "two"
	status "$caller: no repository" 125 as "$caller" sh -c 'cd "$1"/trees && "$2" git -- status' - "$top" "$oc"
	mkdir -p "$top/plain"
	status "$caller: no repository in the project" 125 as "$caller" "$oc" git --project "$top/plain" -- status
	like "$caller: ... which is named" "$said" "*$top/plain: is no git repository*"
	for word in "-c core.fsmonitor=x status" "--git-dir=x status" "config -l" "gc" "zz" "push" \
	    "credential fill" "fetch --upload-pack=x" "fetch --upl=x origin" "rebase --exec x" \
	    "fetch --recurse-submodules" "stash --output=x" "submodule update" "" \
	    "worktree add .git/x" "worktree add $repo/.GIT/x" "bisect run x" "difftool" "clone . x"; do
		status "$caller: refused: git $word" 125 ours $word
	done
	for word in "--env A=b" "--profile shell" "--network isolated" "--json"; do
		status "$caller: refused: $word" 125 as "$caller" "$oc" git $word --project "$repo" -- status
		like "$caller: ... is named" "$said" "*${word%% *}*"
	done
	status "$caller: the profile runs nothing but git" 125 as "$caller" "$oc" run --profile git \
		--project "$repo" -- sh -c true
	status "$caller: ... and needs a project" 125 as "$caller" "$oc" run --profile git -- git status
	is "$caller: git's own status is ours" "$(as "$caller" "$oc" git --project "$repo" -- rev-parse -q --verify nothing; echo $?)" 1
	unlike "$caller: no shell inside" "$(as "$caller" "$oc" explain --profile git --project "$repo" \
		-- git status)" "*bin/sh*"
done
done_testing
