#!/bin/sh
# What a repository can make git run on the host: each shown to run with plain
# git, then that oc-nsrun git does not, nor says what it would have said.
. "${srcdir:?}"/tests/lib.sh
. "$srcdir"/tests/git/repo.sh

# The canary: heard on standard error, and seen as a file in the repository.
# fresh WHAT: a new repository in $dir to prepare
fresh() {
	dir=$top/$1
	as "$caller" sh -ec '
		rm -rf "$1"; git init -q "$1"; cd "$1"
		echo one >f; echo one >g.t; mkdir sub; echo sub >sub/f
		git add .; git commit -qm first
		git branch other; echo two >f; echo two >g.t; git commit -qam second
		git checkout -q other; echo three >f; echo three >g.t; git commit -qam third
		git checkout -q main; touch new
		printf "#!/bin/sh\necho CANARY >&2\ntouch %s/CANARY\ncat\n" "$1" >"$1".run
		chmod +x "$1".run' - "$dir"
	run=$dir/.evil
	as "$caller" mv "$dir.run" "$run"
	as "$caller" sh -c 'echo .evil >>"$1"/.git/info/exclude; echo CANARY >>"$1"/.git/info/exclude' - "$dir"
	line="echo CANARY >&2; touch $dir/CANARY; :"
}
set_config() { as "$caller" git -C "$dir" config "$@"; }
attributes() { as "$caller" sh -c 'echo "$2" >"$1"/.gitattributes' - "$dir" "$1"; }
hook() { as "$caller" cp "$run" "$dir/.git/hooks/$1"; }
write() { as "$caller" sh -c 'mkdir -p "$(dirname "$1")"; printf %b "$2" >"$1"' - "$1" "$2"; }

ran() { as "$caller" test -e "$dir/CANARY" || case $heard in *CANARY*) true ;; *) false ;; esac; }

# try WHAT "WORDS": with plain git it runs; with ours it does not. below: where
# in the repository; more: our options; shell: what plain git is run by instead.
reset() { as "$caller" rm -rf "$dir"; as "$caller" cp -a "$dir.copy" "$dir"; }
try() {
	as "$caller" rm -rf "$dir.copy"
	as "$caller" cp -a "$dir" "$dir.copy"
	reset
	heard=$(as "$caller" sh -c "cd $dir/${below:-.} && timeout 20 ${shell:-git $2} <${input:-/dev/null}" 2>&1)
	if ran; then pass "$caller: $1: git runs it: $2"
	else fail "$caller: $1: git runs it: $2" "this test is blind: $heard"; fi
	reset
	words="$oc git ${more:-} -- $2"
	[ -z "${shell:-}" ] || words="script -qec '$words' /dev/null"
	heard=$(as "$caller" sh -c "cd $dir/${below:-.} && timeout 20 $words <${input:-/dev/null}" 2>&1)
	rc=$?
	if ran; then fail "$caller: $1: oc-nsrun git $2" "it ran: $heard"
	else pass "$caller: $1: oc-nsrun git $2"; fi
	# It did git's work, or was refused; it did not just fall over.
	case $heard in
	*"fatal: not a git"* | *Segmentation* | *"unknown option"* | *"cannot run"*)
		fail "$caller: $1: ... does its work" "rc $rc: $heard" ;;
	*) pass "$caller: $1: ... does its work" ;;
	esac
	reset
}
# tty try ...: on a terminal
tty() {
	shell="script -qec 'git $3' /dev/null"
	"$@"
	shell=
}
# works WHAT RC: the last one ended with rc
works() { is "$caller: $1" "$rc" "$2"; }

for caller in $callers; do
	top=$(home "$caller")
	as "$caller" sh -c 'git config --global user.name T; git config --global user.email t@example.org
		git config --global init.defaultBranch main; git config --global advice.detachedHead false'

	# Programs of the configuration, however it gets in.
	fresh fsmonitor
	set_config core.fsmonitor "$line"
	for word in status diff "add new" "commit --allow-empty -am x" "checkout other" stash; do
		try fsmonitor "$word"
		works "fsmonitor: $word succeeds" 0
	done
	fresh include
	write "$dir/evil.cfg" "[core]\n\tfsmonitor = \"$line\"\n"
	set_config include.path ../evil.cfg
	try include.path status
	fresh includeif
	write "$dir/evil.cfg" "[core]\n\tfsmonitor = \"$line\"\n"
	set_config includeIf.gitdir:/.path ../evil.cfg
	try includeIf status
	fresh worktreeconfig
	set_config extensions.worktreeConfig true
	write "$dir/.git/config.worktree" "[core]\n\tfsmonitor = \"$line\"\n"
	try config.worktree status
	fresh external
	as "$caller" sh -c 'echo more >>"$1"/f' - "$dir"
	set_config diff.external "$run"
	try diff.external diff
	fresh textconv
	attributes '*.t diff=x'
	set_config diff.x.textconv "$line cat"
	as "$caller" sh -c 'echo more >>"$1"/g.t' - "$dir"
	for word in diff "log -p" show "show HEAD" "blame g.t"; do
		try textconv "$word"
	done
	fresh command
	attributes '*.t diff=x'
	set_config diff.x.command "$run"
	as "$caller" sh -c 'echo more >>"$1"/g.t' - "$dir"
	try diff.command diff
	fresh clean
	attributes '*.t filter=x'
	set_config filter.x.clean "echo CANARY >&2; touch $dir/CANARY; cat"
	as "$caller" sh -c 'echo more >>"$1"/g.t' - "$dir"
	for word in diff "add g.t" "commit -am x" stash; do
		try filter.clean "$word"
	done
	as "$caller" git -C "$dir" checkout -q g.t
	as "$caller" touch -d '1 hour' "$dir/g.t"
	try filter.clean status
	fresh smudge
	attributes '*.t filter=x'
	set_config filter.x.smudge "echo CANARY >&2; touch $dir/CANARY; cat"
	for word in "checkout -f other" "switch -f other" "restore -s other g.t" "reset --hard other"; do
		try filter.smudge "$word"
	done
	write "$dir/.git/info/attributes" '*.t filter=x\n'
	try filter.smudge "worktree add wt"
	fresh process
	attributes '*.t filter=x'
	set_config filter.x.process "$run"
	set_config filter.x.required true
	as "$caller" sh -c 'echo more >>"$1"/g.t' - "$dir"
	for word in diff "add g.t" "checkout -f other"; do
		try filter.process "$word"
	done
	as "$caller" sh -c 'echo six >"$1"/g.t' - "$dir"
	try filter.process status
	fresh merge
	attributes '* merge=x'
	set_config merge.x.driver "$line %A"
	for word in "merge other" "cherry-pick other" "rebase other"; do
		try "merge driver" "$word"
	done
	fresh gpg
	set_config log.showSignature true
	set_config gpg.program "$run"
	as "$caller" sh -ec 'cd "$1"
		git cat-file commit HEAD | sed "/^committer/a gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----" >c
		git reset -q --hard "$(git hash-object -t commit -w c)"; rm c' - "$dir"
	for word in log show; do
		try gpg.program "$word"
	done
	set_config commit.gpgSign true
	set_config --unset log.showSignature
	try commit.gpgSign "commit --allow-empty -m x"
	works "commit.gpgSign: is not signed" 0
	fresh editor
	set_config core.editor "$line"
	try core.editor "commit --allow-empty"
	set_config sequence.editor "$line"
	try sequence.editor "rebase -i HEAD~1"
	fresh trailer
	set_config trailer.x.key X
	set_config trailer.x.cmd "$line"
	try trailer.cmd "commit --allow-empty -m x --trailer x=1"
	set_config --unset trailer.x.cmd
	set_config trailer.x.command "$line"
	try trailer.command "commit --allow-empty -m x --trailer x=1"
	fresh difffilter
	set_config interactive.diffFilter "echo CANARY >&2; touch $dir/CANARY; cat"
	as "$caller" sh -c 'echo more >>"$1"/f' - "$dir"
	printf 'q\n' >"$work"/input
	for word in "add -p" "stash push -p"; do
		input=$work/input TERM=xterm
		tty try interactive.diffFilter "$word"
		input= TERM=dumb
	done
	fresh alias
	set_config alias.zz "!$line"
	try alias zz
	works "alias: is refused" 125
	set_config alias.status "!$line"
	set_config alias.yy status
	heard=$(as "$caller" sh -c "cd $dir && $oc git -- yy" 2>&1)
	is "$caller: alias: of a builtin is refused" $? 125
	if as "$caller" script -qec true /dev/null >/dev/null 2>&1; then
		fresh pager
		set_config core.pager "$line"
		set_config pager.status "$line"
		tty try core.pager log
		tty try pager.status status
	else
		skip "$caller: core.pager" "script(1) is not here"
	fi

	# Hooks.
	fresh hookspath
	as "$caller" sh -c 'mkdir "$1"/h; cp "$2" "$1"/h/pre-commit' - "$dir" "$run"
	set_config core.hooksPath h
	try core.hooksPath "commit --allow-empty -m x"
	works "core.hooksPath: is committed" 0
	fresh hooks
	for pair in "pre-commit:commit --allow-empty -m x" "post-commit:commit --allow-empty -m x" \
	    "prepare-commit-msg:commit --allow-empty -m x" "commit-msg:commit --allow-empty -m x" \
	    "post-checkout:checkout -q other" "post-checkout:worktree add wt" \
	    "post-index-change:add new" "reference-transaction:branch x" "reference-transaction:tag x" \
	    "post-merge:merge -q other -X ours" "pre-rebase:rebase other" "post-rewrite:commit --amend -m x"; do
		hook "${pair%%:*}"
		try "hook ${pair%%:*}" "${pair#*:}"
		as "$caller" rm "$dir/.git/hooks/${pair%%:*}"
	done
	fresh autogc
	hook pre-auto-gc
	set_config gc.auto 1
	set_config gc.autoDetach false
	as "$caller" sh -c 'mkdir -p "$1"/.git/objects/17; cd "$1"/.git/objects/17; for i in 0 1 2 3; do : >"$i"2345678901234567890123456789012345678; rm "$i"2345678901234567890123456789012345678; done
		for i in 1 2 3; do printf x$i | git hash-object -w --stdin >/dev/null; done
		: >aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; : >aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab' - "$dir"
	try pre-auto-gc "commit --allow-empty -m x"

	# Fetching: the other side, transports, what is asked for on the way.
	as "$caller" sh -ec 'rm -rf remote; git init -q --bare remote; git -C remote config core.fsmonitor x' 2>/dev/null
	as "$caller" sh -ec 'cd "$1" && rm -rf remote && git clone -q --bare hooks remote' - "$top"
	more="--ro $top/remote"
	fresh fetch
	hook reference-transaction
	try "fetch, a hook" "fetch $top/remote main:fetched"
	works "fetch: succeeds" 0
	as "$caller" rm "$dir/.git/hooks/reference-transaction"
	as "$caller" git config --global uploadpack.packObjectsHook "$line"
	as "$caller" git config --global protocol.file.allow always
	as "$caller" sh -c 'cd "$1/remote" && git config uploadpack.packObjectsHook "$2" &&
		git update-ref refs/heads/new "$(git commit-tree -m new "HEAD^{tree}")"' - "$top" "$line"
	try packObjectsHook "fetch $top/remote new"
	works "packObjectsHook: is fetched" 0
	as "$caller" git config --global --unset uploadpack.packObjectsHook
	fresh ssh
	set_config core.sshCommand "$line"
	set_config remote.origin.url ssh://localhost/x
	try core.sshCommand "fetch origin"
	try core.sshCommand "fetch ssh://localhost/x"
	fresh ext
	set_config protocol.ext.allow always
	write "$dir/x.sh" "$line\n"
	set_config remote.origin.url "ext::sh $dir/x.sh"
	try ext:: "fetch origin"
	try ext:: "fetch \"ext::sh $dir/x.sh\""
	fresh uploadpack
	set_config remote.origin.url "$top/remote"
	set_config remote.origin.uploadpack "$line"
	try remote.uploadpack "fetch origin"
	fresh vcs
	set_config remote.origin.vcs "ext"
	set_config remote.origin.url "sh $dir/x.sh"
	set_config protocol.ext.allow always
	write "$dir/x.sh" "$line\n"
	try remote.vcs "fetch origin"
	fresh alternates
	set_config core.alternateRefsCommand "$line"
	write "$dir/.git/objects/info/alternates" "$top/remote/objects\n"
	try alternateRefsCommand "fetch $top/remote other"
	more=
	# The system's: another may be one that not every caller can read.
	if [ -x /usr/bin/python3 ]; then
		fresh credential
		as "$caller" /usr/bin/python3 -c '
import http.server, os, socketserver
class H(http.server.BaseHTTPRequestHandler):
	def do_GET(self):
		self.send_response(401)
		self.send_header("WWW-Authenticate", "Basic realm=x")
		self.end_headers()
	def log_message(self, *a): pass
s = socketserver.TCPServer(("127.0.0.1", 0), H)
print(s.server_address[1], os.getpid(), flush=True)
s.timeout = 20
for i in range(6): s.handle_request()' >"$work"/port &
		eventually "$caller: a server that wants a password" test -s "$work"/port
		set_config credential.helper "!$line"
		read -r port server <"$work"/port
		try credential.helper "fetch http://127.0.0.1:$port/x"
		kill "$server"
		wait
		rm "$work"/port
	else
		skip "$caller: credential.helper" "python3 is not here"
	fi

	# Repositories that are not the one that was meant.
	fresh forged
	as "$caller" sh -ec 'cd "$1"; git init -q evil; cd evil; echo e >e; git add e; git commit -qm e
		git config core.fsmonitor "$2"; mv .git ../evil.git; cd ..; git config -f evil.git/config core.worktree "$1"/sub
		echo "gitdir: ../evil.git" >sub/.git' - "$dir" "$line"
	below=sub try "a forged .git file" status
	works "a forged .git file: its own configuration does not count" 0
	as "$caller" sh -c 'echo "gitdir: evil.git" >"$1"/x; mv "$1"/.git "$1"/real.git; mv "$1"/x "$1"/.git' - "$dir"
	as "$caller" git config -f "$dir/evil.git/config" --unset core.worktree
	try "a forged .git file at the top" status
	works "a forged .git file at the top: is refused" 125
	fresh bare
	as "$caller" sh -ec 'cd "$1"/sub; cp -a ../.git/HEAD ../.git/objects ../.git/refs ../.git/config .
		git config -f config core.bare false; git config -f config core.worktree ..
		git config -f config core.fsmonitor "$2"' - "$dir" "$line"
	below=sub try "a nested bare repository" status
	works "a nested bare repository: is not looked at" 0
	fresh embedded
	as "$caller" sh -ec 'cd "$1"; git init -q emb; cd emb; echo e >e; git add e; git commit -qm e; cd ..
		git add emb 2>/dev/null; git commit -qm emb; git -C emb config core.fsmonitor "$2"; touch emb/e' - "$dir" "$line"
	for word in status diff; do
		try "an embedded repository" "$word"
	done
	fresh commondir
	as "$caller" sh -ec 'cd "$1"; cp -a .git evil; git config -f evil/config core.fsmonitor "$2"
		echo ../evil >.git/commondir' - "$dir" "$line"
	try "commondir" status
	works "commondir: is refused" 125
	like "$caller: commondir: is named" "$heard" "*$dir/.git/commondir: sends git elsewhere*"
	fresh others
	as "$caller" sh -ec 'cd "$1"; git worktree add -q wt; cp -a .git evil; git config -f evil/config core.fsmonitor "$2"
		echo ../../../evil >.git/worktrees/wt/commondir' - "$dir" "$line"
	try "commondir of another work tree" "worktree remove wt"
	works "commondir of another work tree: is refused" 125
	fresh module
	as "$caller" sh -ec 'cd "$1"; git submodule -q add "$2"/remote mod 2>/dev/null; git commit -qm mod
		git -C mod config core.fsmonitor "$3"; touch mod/f' - "$dir" "$top" "$line"
	for word in status diff; do
		try "a submodule's configuration" "$word"
		works "a submodule's configuration: $word succeeds" 0
	done
	as "$caller" cp "$run" "$dir/.git/modules/mod/hooks/post-index-change"
	below=mod try "a submodule's hooks" "add ."
done
done_testing
