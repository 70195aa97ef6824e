# Sourced after lib.sh by the tests of repositories.
#
# make_repo CALLER	its project: a repository with a submodule in mod, a
#			linked work tree in ../linked and a remote in ../remote
# tree_hash DIR		every name, mode, content and link below it
command -v git >/dev/null || { echo "1..0 # SKIP git is not here"; exit 0; }
case $(command -v git) in
/usr/bin/git | /usr/local/bin/git | /nix/store/*) ;;
*) echo "1..0 # SKIP git stands where the profile git does not look"; exit 0 ;;
esac
need_sandbox

tree_hash() {
	(cd "$1" && {
		find . -printf '%y %m %p %l\n' | sort
		find . -type f -print0 | sort -z | xargs -0 -r sha256sum
	} | sha256sum)
}

make_repo() {
	as "$1" sh -ec '
		cd ..
		rm -rf project linked remote sub
		git config --global user.name "Tess Tester"
		git config --global user.email tess@example.org
		git config --global init.defaultBranch main
		git config --global protocol.file.allow always
		git config --global advice.detachedHead false
		git init -q sub
		(cd sub; echo s >s; git add s; git commit -qm s)
		git init -q project; cd project
		echo one >one; mkdir dir; echo two >dir/two
		git add .; git commit -qm first
		git submodule --quiet add "$PWD"/../sub mod
		git commit -qm sub
		echo ignored >>.git/info/exclude; touch ignored
		git worktree add -q ../linked -b side
		git clone -q --bare . ../remote
		git remote add origin "$PWD"/../remote'
}
