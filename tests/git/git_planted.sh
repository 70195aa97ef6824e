#!/bin/sh
# What a command could leave in a project for the host's git to run later: each
# shown to run when the command is not sandboxed, then not when it is.
. "${srcdir:?}"/tests/lib.sh
. "$srcdir"/tests/git/repo.sh

# planted WHAT SETUP ATTACK HOST: three shell texts. SETUP makes repositories in
# $top, of which "$top/p" is the project and "$top/rw" a writable root; ATTACK
# runs in the project; HOST is what the user does afterwards, there.
planted() {
	dir=$top/planted
	for how in plain sandbox; do
		as "$caller" rm -rf "$dir"
		as "$caller" sh -ec "mkdir -p $dir/p $dir/rw $dir/evil; top=$dir; cd $dir/p
			$2" >"$work"/said 2>&1 || { fail "$caller: $1: is set up" "$(cat "$work"/said)"; return; }
		attack="top=$dir; evil() { git init -q \"\$1\"; git -C \"\$1\" config core.fsmonitor 'touch $dir/CANARY; false'; }
			hook() { mkdir -p \"\$1\"; printf '#!/bin/sh\ntouch $dir/CANARY\n' >\"\$1\"/pre-commit; chmod +x \"\$1\"/pre-commit; }
			$3"
		case $how in
		plain) heard=$(as "$caller" sh -c "cd $dir/p; $attack" 2>&1) ;;
		sandbox) heard=$(as "$caller" "$oc" run $with --project "$dir/p" --rw "$dir/rw" -- sh -c "$attack" 2>&1)
			[ $? != 125 ] || fail "$caller: $1: starts" "$heard" ;;
		esac
		heard="$heard
$(as "$caller" env PATH="$work:$PATH" sh -c "cd $dir/p; top=$dir; $4" 2>&1)"
		if [ $how = plain ]; then
			ok "$caller: $1: runs what was planted" test -e "$dir/CANARY"
		elif [ -e "$dir/CANARY" ]; then
			fail "$caller: $1: not from a sandbox" "it ran: $heard"
		else
			pass "$caller: $1: not from a sandbox"
		fi
	done
	with=
}
with=

# A repository with a submodule in mod; clone: it is not checked out.
module='git init -q $top/s; (cd $top/s; echo s >s; git add s; git commit -qm s)
	git init -q $top/o; (cd $top/o; git submodule --quiet add $top/s mod; git commit -qm o)'
clone="$module
	git clone -q \$top/o \$top/p"

for caller in $callers; do
	top=$(home "$caller")
	as "$caller" sh -c 'git config --global user.name T; git config --global user.email t@example.org
		git config --global init.defaultBranch main; git config --global protocol.file.allow always
		git config --global advice.addEmbeddedRepo false'

	planted "a submodule that is not checked out" "$clone" 'evil mod; touch mod/x' 'git status'
	planted "... whose directory is gone" "$clone
		rmdir mod" 'evil mod; touch mod/x' 'git status'
	planted "... in a directory that is gone" "git init -q .; git init -q \$top/s; git -C \$top/s commit -q --allow-empty -m s
		git submodule --quiet add \$top/s a/b/mod; git commit -qm m; git rm -q .gitmodules; rm -rf a .git/modules" \
		'mkdir -p a/b; evil a/b/mod; touch a/b/mod/x' 'git status'
	for with in "--profile repository-hook" "--profile document-parser" "--profile quality-gate"; do
		planted "... with $with" "$clone" 'evil mod; touch mod/x' 'git status'
	done
	planted "... in an index that is split" "$clone
		git update-index --split-index; git update-index --assume-unchanged .gitmodules" 'evil mod; touch mod/x' 'git status'
	planted "... and in part replaced" "$clone
		git update-index --split-index; echo >>.gitmodules; git add .gitmodules" 'evil mod; touch mod/x' 'git status'
	planted "a submodule that is checked out" "$clone
		git submodule --quiet update --init" 'echo "gitdir: $top/evil/.git" >mod/.git; evil $top/evil; evil x; rm mod/.git; mv x/.git mod/.git' 'git status'
	planted "... and moved away" "$clone
		git submodule --quiet update --init" 'mv mod mod2; evil mod' 'git status'
	planted "a submodule of one" "$module
		git init -q \$top/oo; (cd \$top/oo; git submodule --quiet add \$top/o sub; git commit -qm oo)
		git clone -q \$top/oo \$top/p; git submodule --quiet update --init" 'evil sub/mod; touch sub/mod/x' 'git status; git -C sub status'
	planted "a repository that the index names" "git init -q .; git init -q emb; git -C emb commit -q --allow-empty -m e
		git add emb; git commit -qm emb" 'git -C emb config core.fsmonitor "touch $top/CANARY; false"; touch emb/x' 'git status'
	planted "a repository below: its configuration" "git init -q .; git init -q d/a" 'evil d/a' 'git -C d/a status'
	planted "... its hooks" "git init -q d/a" 'hook d/a/.git/hooks' 'git -C d/a commit --allow-empty -m x'
	planted "... its common directory" "git init -q d/a" 'evil $top/rw/c; cp -r $top/rw/c/.git x; echo "$PWD"/x >d/a/.git/commondir' 'git -C d/a status'
	planted "... moved away" "git init -q d/a" 'mv d/a d/b; evil d/a' 'git -C d/a status'
	planted "... with what is above" "git init -q d/e/a" 'mv d f; mkdir -p d/e; evil d/e/a' 'git -C d/e/a status'
	planted "... in a project that is another" "git init -q .; git init -q d/a" 'hook d/a/.git/hooks' 'git -C d/a commit --allow-empty -m x'
	planted "a work tree below" "git init -q .; git commit -q --allow-empty -m x; git worktree add -q wt" \
		'evil x; echo "gitdir: $PWD/x/.git" >wt/.git' 'git -C wt status'
	planted "a repository whose .git is a link" "git init -q real; mkdir a; ln -s ../real/.git a/.git" \
		'evil x; ln -sfn ../x/.git a/.git; git -C real config core.fsmonitor "touch $top/CANARY; false"' 'git -C a status'
	planted "a writable root's hooks" "git init -q \$top/rw" 'hook $top/rw/.git/hooks' 'git -C $top/rw commit --allow-empty -m x'
	planted "... its configuration" "git init -q \$top/rw" 'evil $top/rw' 'git -C $top/rw status'
	planted "... below it" "git init -q \$top/rw/a" 'hook $top/rw/a/.git/hooks' 'git -C $top/rw/a commit --allow-empty -m x'
	planted "... where there is none" ":" 'evil $top/rw' 'git -C $top/rw status'
	planted "a project where there is none" ":" 'evil .' 'git status'
	planted "a work tree as a writable root" "git init -q \$top/o; git -C \$top/o commit -q --allow-empty -m x; rmdir \$top/rw
		git -C \$top/o worktree add -q \$top/rw" 'evil x; echo "gitdir: $PWD/x/.git" >$top/rw/.git' 'git -C $top/rw status'

	# Through an overlay, whose writes are given to the host afterwards.
	as "$caller" mkdir -p "$top/over"
	if as "$caller" "$oc" run --overlay-project=probe --project "$top/over" -- true >/dev/null 2>&1; then
		apply='oc-nsrun apply --project . planted; '
		with=--overlay-project=planted
		planted "an overlay, a submodule that is not checked out" "$clone" 'evil mod; touch mod/x' "$apply git status"
		as "$caller" "$oc" discard --project "$top/planted/p" planted >/dev/null 2>&1
		with=--overlay-project=planted2 apply='oc-nsrun apply --project . planted2; '
		planted "... a repository below" "git init -q d/a" 'hook d/a/.git/hooks' "$apply git -C d/a commit --allow-empty -m x"
	else
		skip "$caller: an overlay" "the kernel makes none"
	fi

	# A bare one: there is no name that could be kept.
	dir=$top/planted
	as "$caller" sh -c "rm -rf $dir; mkdir -p $dir/p; git init -q --bare $dir/rw"
	status "$caller: a bare repository is no writable root" 125 as "$caller" "$oc" run --project "$dir/p" --rw "$dir/rw" -- true
	like "$caller: ... is named" "$said" "*$dir/rw: is a bare repository*"
	status "$caller: ... but a read-only one" 0 as "$caller" "$oc" run --project "$dir/p" --ro "$dir/rw" -- git -C "$dir/rw" rev-parse
	
	# What is there goes on: to read, and beside it to write.
	as "$caller" sh -ec "rm -rf $dir; mkdir -p $dir/p; top=$dir; cd $dir/p; $clone; git init -q d/a; cd d/a
		echo one >f; git add f; git commit -qm one"
	inside() { as "$caller" "$oc" run --project "$dir/p" -- sh -c "$1" 2>&1; }
	is "$caller: a repository below is read" "$(inside 'cd d/a; git log --format=%s; echo two >f; git status --short')" "one
 M f"
	fails "$caller: ... and not written" inside 'cd d/a; git commit -qam two'
	is "$caller: what is beside it is written" "$(inside 'mkdir d/new; mv d/new d/newer; echo x >mod/x; ls d mod')" "d:
a
newer

mod:
x"
	is "$caller: a new one is the command's own" "$(inside 'git init -q own; cd own; git config user.name T; git config user.email t
		git commit -q --allow-empty -m own; git log --format=%s')" own
	as "$caller" rm -rf "$dir/p/mod/x" "$dir/p/own" "$dir/p/d"
	as "$caller" "$oc" run --project "$dir/p" -- sh -c 'touch started; sleep 2; rm started' &
	eventually "$caller: one runs" test -e "$dir/p/started"
	is "$caller: the host's status meanwhile" "$(as "$caller" git -C "$dir/p" status --porcelain)" "?? started"
	wait
	is "$caller: ... and afterwards" "$(as "$caller" git -C "$dir/p" status --porcelain; ls -A "$dir/p/mod")" ""
	as "$caller" sh -c "cd $dir/p && git submodule --quiet update --init" || fail "$caller: a submodule is checked out afterwards" ""
	is "$caller: ... and is read inside" "$(inside 'git submodule status | cut -c1; git -C mod log --format=%s')" " 
s"
done
done_testing
