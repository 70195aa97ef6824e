#!/bin/sh
# What the profile shell shows of a repository: enough for git to read, nothing
# that could be written, no configuration, no hooks, no logs.
. "${srcdir:?}"/tests/lib.sh
. "$srcdir"/tests/git/repo.sh

run() { as "$caller" "$oc" run --project "$dir" -- "$@" 2>&1; }

look() {
	for word in "status --porcelain" "diff" "log --oneline" "show --stat" "for-each-ref" "ls-files -s" "submodule status"; do
		is "$caller: $1: git $word" "$(run git $word)" "$(as "$caller" git -C "$dir" $word 2>&1)"
	done
	names=$(run sh -c 'cd "$(git rev-parse --git-common-dir)"; ls -A; ls -A "$(git -C "$OLDPWD" rev-parse --absolute-git-dir)"')
	for name in hooks logs description COMMIT_EDITMSG FETCH_HEAD config.worktree branches; do
		unlike "$caller: $1: no $name" " $(echo $names) " "* $name *"
	done
	unlike "$caller: $1: no credentials in the configuration" "$(run git config --list)" "*canary*"
	unlike "$caller: $1: ... nor anywhere" "$(run sh -c 'grep -rs canary "$(git rev-parse --git-common-dir)" "$(git rev-parse --git-dir)"')" "*canary*"
	# What may be written, and where to: nothing.
	is "$caller: $1: nothing is written" "$(run sh -c 'for d in $(git rev-parse --git-common-dir) $(git rev-parse --absolute-git-dir); do
		for f in config config.worktree commondir hooks/pre-commit info/attributes index.lock HEAD.lock shallow.lock \
		    objects/x refs/heads/x modules/mod/config modules/mod/hooks/x modules/new worktrees/x HEAD index packed-refs; do
			(: >>"$d/$f") 2>/dev/null && echo "$d/$f"
		done
		rm -rf "$d/objects" "$d/config" 2>/dev/null; [ -d "$d/refs" ] || [ -f "$d/commondir" ] || echo "$d/refs is gone"
	done')" ""
	fails "$caller: $1: .git is not moved away" run mv .git .git2
	fails "$caller: $1: no commit" run git commit --allow-empty -m x
}

for caller in $callers; do
	top=$(home "$caller") repo=$(project "$caller")
	make_repo "$caller" || { fail "$caller: a repository"; continue; }
	as "$caller" sh -c 'cd "$1" && git config remote.origin.url https://canary:canary@localhost/x &&
		git config credential.helper canary && git config user.password canary &&
		git config core.fsmonitor "echo canary" && git config --unset core.fsmonitor &&
		printf "#!/bin/sh\n# canary\n" >.git/hooks/pre-commit && chmod +x .git/hooks/pre-commit &&
		git -C mod config credential.helper canary' - "$repo"
	before=$(tree_hash "$top")
	dir=$repo look main
	dir=$top/linked look linked
	dir=$repo/mod look submodule
	is "$caller: the host's is as it was" "$(tree_hash "$top")" "$before"
	dir=$repo
	is "$caller: a submodule's link is not written" "$(run sh -c 'echo x >mod/.git; rm -f mod/.git; mv mod/.git x; cat mod/.git' 2>/dev/null | tail -n 1)" \
		"gitdir: $repo/.git/modules/mod"

	# Beside it, work goes on, and the host sees no more than that.
	run sh -c 'echo new >new; git status --porcelain; sleep 3' >"$work"/out &
	sleep 1
	is "$caller: status on the host, meanwhile" "$(as "$caller" git status --porcelain)" "?? new"
	wait
	is "$caller: status inside" "$(cat "$work"/out)" "?? new"
	as "$caller" rm -f new
	is "$caller: status afterwards" "$(as "$caller" git status --porcelain)" ""

	# Alternates lead to what is granted, or nowhere.
	as "$caller" sh -c 'cd .. && git clone -q --shared sub shared' 2>/dev/null
	dir=$top/shared
	fails "$caller: alternates that are not granted are not followed" run git log
	is "$caller: ... and are where they are" "$(as "$caller" "$oc" run --project "$dir" --ro "$top/sub" \
		-- git log --format=%s)" s

	# A bare repository is only read; a .git that is none is only a name.
	dir=$top/remote
	is "$caller: bare: log" "$(run git log --oneline)" "$(as "$caller" git -C "$dir" log --oneline)"
	is "$caller: bare: a mask of what is not shown" "$(as "$caller" "$oc" run --project "$dir" --mask .env -- git log --oneline)" "$(as "$caller" git -C "$dir" log --oneline)"
	fails "$caller: bare: a mask of what is" as "$caller" "$oc" run --project "$dir" --mask HEAD -- true
	fails "$caller: bare: nothing is written" run sh -c ': >hooks/x || : >config || : >x'
	is "$caller: bare: with git" "$(as "$caller" "$oc" git --project "$dir" -- log --oneline)" \
		"$(as "$caller" git -C "$dir" log --oneline)"
	as "$caller" mkdir -p "$top/name/.git"
	dir=$top/name
	fails "$caller: a name: is read-only" run touch .git/x
	dir=$top/trees
	as "$caller" sh -c 'cd "$1" && git -C project worktree add -q ../remote/inside' - "$top"
	status "$caller: a root in a git directory" 125 as "$caller" "$oc" run --project "$top/remote" \
		--ro "$top/remote/inside" -- true
	like "$caller: ... is named" "$said" "*$top/remote/inside: is granted, but in a git directory*"

	# Half done: what git status tells of it.
	dir=$repo
	as "$caller" sh -c 'git checkout -q -b a && echo a >one && git commit -qam a && git checkout -q -b b main &&
		echo b >one && git commit -qam b && ! git merge -q a' >/dev/null 2>&1
	is "$caller: in a merge" "$(run git status)" "$(as "$caller" git status)"
	as "$caller" git merge --abort
	as "$caller" git pack-refs --all
	is "$caller: packed refs" "$(run git for-each-ref)" "$(as "$caller" git for-each-ref)"
	as "$caller" git update-index --split-index
	is "$caller: a split index" "$(run git status)" "$(as "$caller" git status)"
	as "$caller" git update-index --no-split-index
	ok "$caller: sparse checkout" as "$caller" git sparse-checkout set dir
	is "$caller: ... inside" "$(run git status)" "$(as "$caller" git status)"
	ok "$caller: ... with git" as "$caller" "$oc" git --project "$repo" -- checkout -q main
	is "$caller: ... is kept" "$(as "$caller" git status --porcelain; ls "$repo")" "$(printf 'dir\nignored\nmod\none')"
done
done_testing
