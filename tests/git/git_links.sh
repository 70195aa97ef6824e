#!/bin/sh
# Every link between a work tree and its repository, forged: refused, by name,
# before anything runs.
. "${srcdir:?}"/tests/lib.sh
. "$srcdir"/tests/git/repo.sh

# forged WHAT LINK DIR: with DIR as the project both faces refuse, naming LINK
forged() {
	for how in "git --project $3 -- status" "run --project $3 -- true"; do
		status "$caller: $1: ${how%% *}" 125 as "$caller" "$oc" $how
		like "$caller: ... names the link" "$said" "*$2*"
		is "$caller: ... in one line" "$(echo "$said" | wc -l)" 1
	done
}
good() { ok "$caller: $1" as "$caller" "$oc" git --project "$2" -- status; }
put() { as "$caller" sh -c 'rm -rf "$1"; printf "$2" >"$1"' - "$1" "$2"; }

for caller in $callers; do
	top=$(home "$caller") repo=$(project "$caller")
	make_repo "$caller" || { fail "$caller: a repository"; continue; }
	linked=$top/linked admin=$repo/.git/worktrees/linked
	good "a linked work tree" "$linked"
	good "a submodule" "$repo/mod"

	# The .git file.
	link=$linked/.git
	put "$link" "gitdir: $admin"
	good "without a newline" "$linked"
	put "$link" "gitdir: ../project/.git/worktrees/linked\n"
	good "relative" "$linked"
	for bad in "gitdir: $admin\r\n" "gitdir: $admin\ngitdir: x\n" "gitdir: $admin\n\n" "" "\n" \
	    "gitdir:\n" "gitdir: \n" "gitdir:$admin\n" "GITDIR: $admin\n" "$admin\n" \
	    "gitdir: $admin\\\\000x\n" "gitdir: ../nothing\n" "gitdir: $admin/HEAD\n" \
	    "gitdir: $repo/.git\n" "gitdir: $repo/.git/worktrees\n" "gitdir: $top/remote\n" \
	    "gitdir: $top/sub/.git\n" "gitdir: $repo/.git/modules/mod\n" "gitdir: .\n"; do
		put "$link" "$bad"
		forged "gitdir: $(printf %s "$bad" | head -c 60)" "$top" "$linked"
	done
	as "$caller" sh -c '{ printf "gitdir: "; head -c 5000 /dev/zero | tr "\0" /; echo "$2"; } >"$1"' - "$link" "$admin"
	forged "5 KiB" "$link: is larger" "$linked"
	as "$caller" sh -c 'rm "$1"; echo "gitdir: $2" >"$1".real; ln -s .git.real "$1"' - "$link" "$admin"
	forged "a symbolic link" "$link: is a link" "$linked"
	as "$caller" sh -c 'rm "$1"; ln -s "$2" "$1"' - "$link" "$repo/.git"
	forged "a symbolic link to a directory" "$link: is a link" "$linked"
	as "$caller" sh -c 'rm "$1"; mkfifo "$1"' - "$link"
	forged "a FIFO" "$link" "$linked"
	as "$caller" sh -c 'ln -s "$2" "$1"' - "$top/way" "$repo/.git/worktrees"
	put "$link" "gitdir: $top/way/linked\n"
	forged "by way of a symbolic link" "$link" "$linked"
	put "$link" "gitdir: $admin\n"
	good "mended" "$linked"

	# commondir.
	for bad in "../..\r\n" "../..\n../..\n" "" ".\n" "..\n" "../../../nothing\n" "$top/remote\n" \
	    "$top/sub/.git\n" "../../../../evil\n" "../../modules/mod\n"; do
		put "$admin/commondir" "$bad"
		forged "commondir: $bad" "$admin" "$linked"
	done
	as "$caller" sh -c 'rm "$1"; ln -s gitdir "$1"' - "$admin/commondir"
	forged "commondir: a symbolic link" "$admin/commondir: is a symbolic link" "$linked"
	as "$caller" rm "$admin/commondir"
	forged "no commondir" "$admin" "$linked"
	put "$admin/commondir" "../..\n"

	# The parent: a copy of the directory that stands elsewhere.
	as "$caller" cp -a "$admin" "$repo/.git/worktrees/copy"
	put "$link" "gitdir: $repo/.git/worktrees/copy\n"
	good "a copy beside it leads back too" "$linked"
	as "$caller" sh -c 'mkdir -p "$1"; mv "$2" "$1"/linked; echo "$3" >"$1"/linked/commondir' - \
		"$top/admin" "$repo/.git/worktrees/copy" "$repo/.git"
	put "$link" "gitdir: $top/admin/linked\n"
	forged "a parent elsewhere" "$top/admin/linked/commondir: leads" "$linked"
	put "$link" "gitdir: $admin\n"

	# The backlink.
	for bad in "$repo/.git\n" "$linked/.git\r\n" "$linked\n" "" "/nothing\n"; do
		put "$admin/gitdir" "$bad"
		forged "backlink: $bad" "$admin/gitdir" "$linked"
	done
	put "$admin/gitdir" "$linked/.git\n"
	good "mended again" "$linked"
	as "$caller" cp -a "$linked" "$top/moved"
	forged "a copy of a work tree" "$admin/gitdir: does not lead back" "$top/moved"

	# A main repository that sends git elsewhere.
	as "$caller" sh -c 'cp -a "$1" "$2"; echo ../../evil >"$1"/commondir' - "$repo/.git" "$top/evil"
	forged "commondir in a main repository" "$repo/.git/commondir" "$repo"
	forged "... of a linked work tree" "$repo/.git/commondir" "$linked"
	as "$caller" rm "$repo/.git/commondir"
	for name in HEAD objects refs; do
		as "$caller" sh -c 'cd "$1/.git" && mv $2 ../real && ln -s ../real $2' - "$repo" $name
		forged "$name: a symbolic link" "$repo/.git/$name" "$repo"
		as "$caller" sh -c 'cd "$1/.git" && rm $2 && mv ../real $2' - "$repo" $name
	done
	as "$caller" ln "$repo/.git/index" "$top/alias"
	status "$caller: an index with another name" 125 as "$caller" "$oc" run --project "$repo" -- true
	like "$caller: ... is named" "$said" "*$repo/.git/index: has another name*"
	as "$caller" rm "$top/alias"
	as "$caller" sh -c 'mv "$1" "$1"-real; ln -s "$1"-real "$1"' - "$repo/.git"
	forged ".git: a symbolic link" "$repo/.git: is a link" "$repo"
	as "$caller" sh -c 'rm "$1"; mv "$1"-real "$1"' - "$repo/.git"

	# Submodules: the project itself, and one within.
	put "$repo/mod/.git" "gitdir: ../../evil\n"
	forged "a submodule's link" "$repo/mod" "$repo/mod"
	forged "... within the project" "$repo/mod" "$repo"
	put "$repo/mod/.git" "gitdir: ../.git\n"
	forged "a submodule's link to the project's" "$repo/mod" "$repo"
	put "$repo/mod/.git" "gitdir: ../.git/modules/mod\n"
	good "all mended" "$repo"
	as "$caller" git -C "$repo" config -f .git/modules/mod/config core.worktree ../../../dir
	forged "core.worktree that leads elsewhere" "$repo/mod" "$repo/mod"
	as "$caller" git -C "$repo" config -f .git/modules/mod/config core.worktree ../../../mod
	put "$repo/.git/worktrees/linked/x" ""
	as "$caller" sh -c 'echo "[core" >>"$1"' - "$repo/.git/modules/mod/config"
	forged "a malformed configuration" "$repo/.git/modules/mod/config:" "$repo"
done
done_testing
