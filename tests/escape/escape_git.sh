#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Repositories, and what is handed to the host's tools: what an attack leaves is
# looked for by the host afterwards. Each is shown to work outside.
. "$srcdir"/tests/lib.sh
. "$srcdir"/tests/escape/escape.sh
command -v git >/dev/null || { echo "1..0 # SKIP git is not here"; exit 0; }

# Anew: a repository with a submodule that is not checked out, a linked work
# tree, and a server that is never asked.
fresh() {
	as "$who" sh -ec "cd $home; rm -rf repo linked mod evil; mkdir evil
		git init -q mod; git -C mod commit -q --allow-empty -m mod
		git init -q repo; cd repo; echo one >f; mkdir d; echo '* -text' >.gitattributes
		git submodule --quiet add ../mod mod; git add .; git commit -qm one
		git submodule --quiet deinit -f mod; rm -rf .git/modules
		git worktree add -q ../linked; git remote add origin https://u:$head$tail@localhost/x
		echo canary >.git/hooks/pre-commit.sample; echo two >f"
}

# What of .git is not written by git status itself.
sum() { (cd "$project" && find .git -type f ! -name index "$@" -print0 | sort -z | xargs -0 cksum | cksum); }

# attack ID WHAT SAYS COMMAND WON: in the repository, outside and in the
# sandbox, where it says so (grep -E) and leaves .git as it was, and WON is true
# on the host after the one and not after the other. $top is where it stands.
attack() {
	id=$1 what=$2 says=$3
	script="cd $project; top=$home; canary='touch $home/evil/CANARY; false'; $4"
	for place in outside sandbox; do
		fresh
		before=$(sum)
		said=$(launch $place sh -c "$script" 2>&1)
		after=$(sum)
		as "$who" sh -c "cd $project; top=$home; $5" >"$work/won" 2>&1
		case $place/$? in
		outside/0) pass "$mode $id: $what: outside" ;;
		outside/*) fail "$mode $id: $what: outside" "this check is blind: $said" "$(cat "$work/won")" ;;
		sandbox/0) fail "$mode $id: $what" "it worked: $said" ;;
		*)	if ! printf '%s\n' "$said" | grep -qE "$says"; then
				fail "$mode $id: $what" "it says: $said" "and not: $says"
			else
				is "$mode $id: $what" "$after" "$before"
			fi ;;
		esac
	done
}
ran='git status >/dev/null 2>&1; git add f; git diff HEAD >/dev/null; git commit --allow-empty -qm x; test -e $top/evil/CANARY'
ro='Read-only file system|Permission denied|nonexistent'

repository() {
	for file in hooks/pre-commit config config.worktree info/attributes HEAD refs/heads/x objects/x \
	    packed-refs commondir modules/mod/config; do
		attack GIT-01 "$file" "$ro" "mkdir -p \$(dirname .git/$file); echo evil >>.git/$file" "grep -qs evil .git/$file"
	done
	attack GIT-01 "a hook" "$ro" 'printf "#!/bin/sh\n$canary\n" >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit' "$ran"
	attack GIT-02 "core.fsmonitor" 'could not lock config file .*: Read-only file system' 'git config core.fsmonitor "$canary"' "$ran"
	attack GIT-02 "include.path" 'could not lock config file .*: Read-only file system' 'printf "[core]\n\tfsmonitor = \"$canary\"\n" >c; git config include.path ../c' "$ran"
	attack GIT-03 "a filter" 'could not lock config file .*: Read-only file system' 'git config filter.x.clean "$canary"; echo "* filter=x" >.gitattributes' "$ran"
	attack GIT-04 "diff.external" 'could not lock config file .*: Read-only file system' 'git config diff.external "$canary"' "$ran"
	attack GIT-04 "core.hooksPath" 'could not lock config file .*: Read-only file system' 'git config core.hooksPath h; mkdir h
		printf "#!/bin/sh\n$canary\n" >h/pre-commit; chmod +x h/pre-commit' "$ran"
	attack GIT-05 "a repository in a submodule's place" 'Invalid path' 'git init -q mod; git -C mod config core.fsmonitor "$canary"; touch mod/x' "$ran"
	attack GIT-05 ".git moved away" 'Device or resource busy' 'mv .git g; git init -q .; git config core.fsmonitor "$canary"' "$ran"
	attack GIT-10 "an object written over" "$ro" 'for f in .git/objects/??/*; do chmod u+w $f; : >$f; done' '! git log >/dev/null'
	attack GIT-10 "alternates" "$ro" 'echo $top/mod/.git/objects >.git/objects/info/alternates' 'test -s .git/objects/info/alternates'
	attack GIT-11 "an index of its own" "$ro" 'echo evil >x; cat x >.git/index' '! git status >/dev/null 2>&1'
	attack GIT-11 "an index put in its place" 'Read-only file system|Device or resource busy|are the same file|inter-device' 'echo evil >x; mv -f x .git/index' '! git status >/dev/null 2>&1'
	for lock in index.lock HEAD.lock config.lock shallow.lock packed-refs.lock; do
		attack GIT-14 "$lock" "$ro" "echo >.git/$lock" "test -e .git/$lock"
	done
}

# What is read: said there, and not here.
reads() {
	fresh
	id=$1 what=$2; shift 2
	like "$mode $id: $what: outside" "$(launch outside sh -c "cd $project; $1" 2>&1)" "*$head$tail*"
	unlike "$mode $id: $what" "$(launch sandbox sh -c "cd $project; $1" 2>&1)" "*$head$tail*"
}

# refused ID WHAT SETUP NAMES: by a launch, which runs nothing
refused() {
	fresh
	status "$mode $1: $2: before" 0 launch sandbox true
	as "$who" sh -ec "cd $project; top=$home; $3" || fail "$mode $1: $2" "not set up"
	status "$mode $1: $2" 125 launch sandbox touch "$project/ran"
	like "$mode $1: ... is named" "$said" "$4"
	ok "$mode $1: ... and nothing ran" test ! -e "$project/ran"
}

links() {
	refused GIT-06 "a .git that is a link" 'mv .git $top/evil/g; ln -s $top/evil/g .git' "*/.git: is a link*"
	refused GIT-06 "a forged .git file" 'mv .git $top/evil/g; echo "gitdir: ../evil/g" >.git' "*/.git: *"
	refused GIT-06 "... with a carriage return" 'mv .git $top/evil/g; printf "gitdir: ../evil/g\r\n" >.git' "*/.git: *"
	refused GIT-06 "... of 5 KiB" 'mv .git $top/evil/g; printf "gitdir: %05000d\n" 0 >.git' "*/.git: *"
	refused GIT-07 "a common directory elsewhere" 'echo ../../evil >.git/commondir' "*/commondir: *"
	project=$home/linked
	refused GIT-07 "a backlink elsewhere" 'echo $top/evil/.git >$top/repo/.git/worktrees/linked/gitdir' "*/gitdir: *"
	refused GIT-07 "a work tree's common directory elsewhere" 'cp -r $top/repo/.git $top/evil/g
		echo $top/evil/g >$top/repo/.git/worktrees/linked/commondir' "*/commondir: *"
	project=$home/repo
}

# git that is run for the command, where others made the repository.
for_us() {
	fresh
	as "$who" sh -ec "cd $project; mkdir bare; cp -r .git/HEAD .git/objects .git/refs .git/config bare
		git config -f bare/config core.bare false; git config -f bare/config core.worktree ..
		git config -f bare/config core.fsmonitor 'touch $home/evil/CANARY; false'"
	as "$who" sh -c "cd $project/bare; git status" >/dev/null 2>&1
	ok "$mode GIT-08: a bare repository below: outside" test -e "$home/evil/CANARY"
	rm -f "$home/evil/CANARY"
	ok "$mode GIT-08: ... with oc-nsrun git" as "$who" sh -c "cd $project/bare && $oc git $as_option -- status"
	ok "$mode GIT-08: ... nothing ran" test ! -e "$home/evil/CANARY"
	# Of a linked work tree only that one's files change.
	fresh
	before=$(sum ! -path '*/worktrees/linked/*' ! -path '*/objects/*' ! -path '.git/*/heads/linked')
	as "$who" sh -c "echo three >$home/linked/f"
	ok "$mode GIT-12: a commit in a linked work tree" as "$who" "$oc" run $as_option --profile git-worktree \
		--project "$home/linked" -- git commit -qam three
	is "$mode GIT-12: ... writes nothing of the main one" \
		"$(sum ! -path '*/worktrees/linked/*' ! -path '*/objects/*' ! -path '.git/*/heads/linked')" "$before"
	is "$mode GIT-12: ... and is there" "$(as "$who" git -C "$home/linked" log -1 --format=%s)" three
	fresh
	as "$who" /usr/bin/perl -MSocket -e 'socket(my $s, AF_UNIX, SOCK_STREAM, 0); bind($s, pack_sockaddr_un($ARGV[0])) or exit 1' \
		"$project/.git/fsmonitor--daemon.ipc"
	ok "$mode GIT-13: a socket in .git: outside" launch outside test -S "$project/.git/fsmonitor--daemon.ipc"
	fails "$mode GIT-13: a socket in .git" launch sandbox test -e "$project/.git/fsmonitor--daemon.ipc"
}

hand_off() {
	for name in .claude/settings.json .claude/hooks/x .openclaudia/config.yaml; do
		attack HAND-01 "$name" "$ro|File exists|cannot create" "mkdir -p $(dirname $name); echo evil >$name" "grep -qs evil $name"
	done
	options="--mask .mcp.json --mask .vscode --mask .envrc --mask **/.husky"
	for name in .mcp.json .vscode/tasks.json .envrc; do
		attack HAND-02 "$name" "$ro|File exists|cannot create" "mkdir -p $(dirname $name); echo evil >$name" "grep -qs evil $name"
	done
	options=
	# The next launch is as this one was, whatever it wrote.
	fresh
	plan() { as "$who" ${1:-env} "$oc" explain $as_option --project "$project" --json -- true 2>&1; }
	before=$(plan)
	launch sandbox sh -c "cd $project; mkdir -p .config/oc-nsrun etc/oc-nsrun \$HOME/.config/oc-nsrun
		for f in oc-nsrun.conf .oc-nsrun.conf .config/oc-nsrun/oc-nsrun.conf \$HOME/.config/oc-nsrun/oc-nsrun.conf .env .envrc shell.profile; do
			printf 'permit unsandboxed\nOPENCLAUDIA_BASH_SANDBOX=off\nprofile shell\nnetwork isolated\n' >\$f; done" >/dev/null 2>&1
	is "$mode HAND-09: what it writes changes no plan" "$(plan)" "$before"
	unlike "$mode HAND-09: ... which a host's variable does" "$(plan "env OPENCLAUDIA_PROJECT_SECRET_MASKS=f")" "$before"
	# What a model may say is not more than what there is.
	for word in --dangerously-disable-sandbox --no-sandbox --share-net --bind=/ --seccomp=0 --cap-add=ALL \
	    --profile=none --profile=../shell --network=host --hook-mode=none; do
		status "$mode HAND-07: $word" 125 launch outside "$oc" run $as_option $word --project "$project" -- touch "$project/ran"
		ok "$mode HAND-07: ... nothing ran" test ! -e "$project/ran"
	done
	status "$mode HAND-07: and an option that there is" 0 launch outside "$oc" run $as_option --stdin null --project "$project" -- true
	# Where no sandbox can be made nothing runs.
	as "$who" cp "$oc" "$project/oc-nsrun"
	if grep -q __asan_init "$oc"; then
		skip "$mode HAND-08: no namespaces: it fails" "AddressSanitizer does not fit a command's limits"
	else
		status "$mode HAND-08: no namespaces: it fails" 125 launch sandbox "$project/oc-nsrun" run --project "$project/d" -- touch "$project/d/ran"
	fi
	ok "$mode HAND-08: ... and nothing ran" test ! -e "$project/d/ran"
	status "$mode HAND-08: with namespaces it does" 0 launch outside "$project/oc-nsrun" run $as_option --project "$project/d" -- touch "$project/d/ran"
	# Names are never words.
	for name in --rw=x '$(touch ran)' "$(printf 'a\033[2Jb')" '-'; do
		as "$who" mkdir -p "$project/$name"
		status "$mode HAND-04: a project that is called $(printf %s "$name" | tr '\033' '?')" 0 as "$who" "$oc" run $as_option \
			--stdin null --project "$project/$name" -- touch ran
		ok "$mode HAND-04: ... is that one" test -e "$project/$name/ran" -a ! -e "$project/ran"
	done
}

for mode in $modes; do
	stage "$mode"
	project=$home/repo
	as "$who" sh -c 'git config --global user.name T; git config --global user.email t@example.org
		git config --global protocol.file.allow always; git config --global advice.addEmbeddedRepo false'
	repository
	reads GIT-15 "the configuration" 'git config -l; cat .git/config'
	reads GIT-15 "remotes" 'git remote -v'
	links
	for_us
	hand_off
done
finish
