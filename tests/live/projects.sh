#!/bin/sh
# Projects as people have them, in the profile shell with what it masks: started,
# built, tested, edited, committed; two sandboxes at once, one killed; and git
# on the host sees nothing of it. Nothing is fetched.
#
# --full: a monorepo of 200,000 files, not of 20,000.
. "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"/tests/lib.sh
need_sandbox
n_files=20000
[ "${1-}" = --full ] && n_files=200000
command -v git >/dev/null || { echo "1..0 # SKIP git is not here"; exit 0; }

# Below /usr, and so visible inside.
has() { tool=$(command -v "$1") && case $(readlink -f "$tool") in /usr/*) ;; *) false ;; esac; }
run() { as "$caller" "$oc" run --stdin null --project "$p" $options "$@"; }
host_git() { as "$caller" git -C "$p" "$@"; }
clean() { is "$caller: $name: $1" "$(host_git status --porcelain 2>&1)" ""; }
# The names of masks, and of what keeps them absent, on the host.
leftovers() { find "$p" \( -type s -o -name .claude -o -name .openclaudia \) -print; }
nothing_left() { [ -z "$(leftovers)" ]; }

# start NAME: a repository in $p, whose files the caller makes with the text
start() {
	name=$1 p=$(home "$caller")/$1 options=
	as "$caller" sh -ec "mkdir $p; cd $p; git init -q; $2; git add .; git commit -qm start" >"$work"/said 2>&1 ||
		{ fail "$caller: $name: is made" "$(cat "$work"/said)"; return 1; }
	clean "before"
}

# works BUILD TEST EDIT: what the project's people do all day
works() {
	is "$caller: $name: builds" "$(run -- sh -c "$1" 2>&1 >/dev/null; echo $?)" 0
	clean "built"
	# A second one beside it, and the host between them.
	as "$caller" sh -c 'echo $$ >../pid; exec "$@"' sh "$oc" run --stdin null --project "$p" $options -- \
		sh -c 'echo $$ >.git/x; while :; do cat * >/dev/null; sleep 0.1; done' >/dev/null 2>&1 &
	eventually "$caller: $name: another runs beside it" sh -c \
		"tr '\\0' ' ' </proc/\$(cat $(home "$caller")/pid)/cmdline | grep -q oc-nsrun"
	is "$caller: $name: tests pass" "$(run -- sh -c "$2" 2>&1)" passed
	clean "tested, one running"
	kill -KILL "$(cat "$(home "$caller")/pid")"
	wait
	eventually "$caller: $name: killed, nothing is left" nothing_left
	clean "one killed"
	is "$caller: $name: an edit" "$(run -- sh -c "$3" 2>&1; host_git diff --numstat | wc -l)" 1
	is "$caller: $name: a commit" "$(as "$caller" "$oc" git --project "$p" $options -- commit -qam edit 2>&1; host_git log --oneline | wc -l)" 2
	is "$caller: $name: tests pass again" "$(run -- sh -c "$2" 2>&1)" passed
	clean "after"
	is "$caller: $name: nothing is left" "$(leftovers)" ""
}

for caller in $callers; do
	as "$caller" sh -c 'git config --global user.name T; git config --global user.email t@example.org
		git config --global protocol.file.allow always; git config --global gc.auto 0'

	if has gcc && has make && start c 'printf "check: prog\n\t@./prog\nprog: main.c\n\t\$(CC) -o \$@ main.c\n" >Makefile
		echo "#include <stdio.h>
int main(void) { return puts(\"passed\") < 0; }" >main.c; echo prog >.gitignore'; then
		works "make -s" "make -s check" "echo '/* edited */' >>main.c"
		# Each way in which an editor replaces a file.
		for save in 'sed -i s/edited/saved/ main.c' 'perl -pi -e s/saved/edited/ main.c' \
		    'cp -p main.c main.c~; mv main.c~ main.c' \
		    'printf "%s\n" "g/edited/s//again/" w q | ed -s main.c' \
		    'vim -es -u NONE -c "set backup writebackup backupcopy=no" -c "%s/again/edited/e" -c wq main.c; rm -f main.c~' \
		    'ln main.c main.bak; rm main.c; mv main.bak main.c'; do
			editor=${save%% *}
			case $editor in printf) editor=ed ;; esac
			has $editor || { skip "$caller: c: saved by $editor" "no $editor below /usr"; continue; }
			is "$caller: c: saved by $editor" "$(run -- sh -c "$save" 2>&1; run -- make -s check 2>&1)" passed
		done
		is "$caller: c: ... and no more is there" "$(ls -A "$p" | tr '\n' ' ')" ".git .gitignore Makefile main.c prog "
	else
		skip "$caller: c" "no gcc or make below /usr"
	fi

	if has node && has npm && start npm 'mkdir lib; cat >package.json <<J
{ "name": "app", "version": "1.0.0", "private": true, "dependencies": { "lib": "file:lib" },
  "scripts": { "build": "node build.js", "test": "node test.js" } }
J
		echo "{ \"name\": \"lib\", \"version\": \"1.0.0\", \"main\": \"i.js\" }" >lib/package.json
		echo "module.exports = \"passed\";" >lib/i.js
		echo "require(\"fs\").writeFileSync(\"out.js\", \"console.log(require(\\\"lib\\\"))\")" >build.js
		echo "require(\"child_process\").execFileSync(process.execPath, [\"out.js\"], { stdio: \"inherit\" })" >test.js
		printf "node_modules\nout.js\n" >.gitignore
		npm install --offline --no-audit --no-fund --package-lock-only >/dev/null'; then
		works "npm ci --offline --no-audit --no-fund && npm run build" "npm test --silent" "echo '// edited' >>test.js"
	else
		skip "$caller: npm" "no node or npm below /usr"
	fi

	# As pnpm and uv do it: all of what is installed are hard links into a store.
	if has node && start pnpm 'mkdir -p ../store node_modules/.pnpm/dep@1/node_modules/dep
		echo "module.exports = \"passed\";" >../store/i.js; ln ../store/i.js node_modules/.pnpm/dep@1/node_modules/dep/index.js
		ln -s .pnpm/dep@1/node_modules/dep node_modules/dep
		echo "console.log(require(\"dep\"))" >test.js; printf "node_modules\nout\n" >.gitignore'; then
		status "$caller: pnpm: links into a store are refused" 125 run -- true
		options="--on-hazard shield"
		works "node test.js >out" "node test.js" "echo '// edited' >>test.js"
		fails "$caller: pnpm: the store is not written" run -- sh -c 'echo evil >node_modules/dep/index.js'
		is "$caller: pnpm: ... it is as it was" "$(cat "$p/../store/i.js")" 'module.exports = "passed";'
	else
		skip "$caller: pnpm" "no node below /usr"
	fi

	python=/usr/bin/python3
	if [ -x $python ] && start venv 'mkdir -p ../cache
		/usr/bin/python3 -m venv --without-pip .venv
		site=$(echo .venv/lib/python3*/site-packages); echo "word = \"passed\"" >../cache/dep.py; ln ../cache/dep.py $site/dep.py
		echo "import unittest, dep
class T(unittest.TestCase):
    def test(self): self.assertEqual(dep.word, \"passed\")
unittest.main(argv=[\"t\", \"-q\"], exit=False); print(dep.word)" >test.py; printf ".venv\n__pycache__\n" >.gitignore'; then
		options="--on-hazard shield"
		works ". .venv/bin/activate && python -m compileall -q test.py" ".venv/bin/python test.py 2>/dev/null" "echo '# edited' >>test.py"
		options=
		name=venv2
		is "$caller: venv: one is made inside" "$(as "$caller" mkdir "$p/../venv2"; p=$p/../venv2; run -- sh -c \
			"$python -m venv --without-pip v && v/bin/python -c 'import sys; print(sys.prefix != sys.base_prefix)'" 2>&1)" True
	else
		skip "$caller: venv" "no $python, or it makes no venv: $(tail -n 1 "$work"/said 2>/dev/null)"
	fi

	# Toolchains of rustup stand in the home of whoever runs the test.
	if command -v cargo >/dev/null && [ "$caller" = root ] && [ -d "${HOME:-/root}/.rustup" ]; then
		with_cargo() { as root env HOME="${HOME:-/root}" "$oc" run --stdin null --timeout 280s --project "$p" -- sh -c "$1" 2>&1; }
		if start cargo 'mkdir -p src lib/src; printf "[workspace]\nmembers = [\"lib\"]\n[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nlib = { path = \"lib\" }\n" >Cargo.toml
			printf "[package]\nname = \"lib\"\nversion = \"0.1.0\"\nedition = \"2021\"\n" >lib/Cargo.toml
			echo "pub fn word() -> &%static str { \"passed\" }
#[test] fn t() { assert_eq!(word(), \"passed\") }" | tr % "\047" >lib/src/lib.rs
			echo "fn main() { println!(\"{}\", lib::word()) }" >src/main.rs; printf "target\nCargo.lock\n" >.gitignore'; then
			is "$caller: cargo: builds and tests" "$(with_cargo 'cargo test -q --workspace --offline >/dev/null 2>&1 && cargo run -q --offline')" passed
			clean "built"
			is "$caller: cargo: an edit is built" "$(with_cargo 'sed -i s/passed/edited/ lib/src/lib.rs && cargo run -q --offline')" edited
		fi
	else
		skip "$caller: cargo" "no cargo with its toolchains in this caller's home"
	fi

	if has go && start go 'printf "module example.org/app\n\ngo 1.18\n" >go.mod
		printf "package main\n\nfunc word() string { return \"passed\" }\n\nfunc main() { println(word()) }\n" >main.go
		printf "package main\n\nimport \"testing\"\n\nfunc TestWord(t *testing.T) {\n\tif word() != \"passed\" {\n\t\tt.Fail()\n\t}\n}\n" >main_test.go; echo app >.gitignore'; then
		works "go build -o app" "go test ./... >/dev/null && ./app 2>&1" "echo '// edited' >>main.go"
	else
		skip "$caller: go" "no go below /usr"
	fi

	if start worktrees 'git init -q ../sub; (cd ../sub; echo passed >word; git add .; git commit -qm sub)
		git submodule --quiet add "$PWD"/../sub sub; echo "cat sub/word" >test.sh; echo out >.gitignore'; then
		works "cat sub/word >out" "sh test.sh" "echo '# edited' >>test.sh"
		as "$caller" sh -c "cd $p && git worktree add -q ../linked && git -C ../linked submodule --quiet update --init"
		p=$(home "$caller")/linked name=linked
		is "$caller: linked: tests pass" "$(run -- sh test.sh 2>&1)" passed
		is "$caller: linked: an edit is committed" "$(run -- sh -c 'echo "# again" >>test.sh; git status --short'
			as "$caller" "$oc" git --project "$p" -- commit -qam again; host_git log -1 --format=%s)" " M test.sh
again"
		clean "after"
	fi

	if start monorepo "seq 200 | sed 's/^/d/' | xargs mkdir; seq $n_files | awk '{ f = \"d\" (\$1 % 200 + 1) \"/f\" \$1; print \$1 >f; close(f) }'
		git config core.untrackedCache false; echo out >.gitignore"; then
		works "cat d*/* | wc -l >out" "test \$(cat d*/* | wc -l) -ge $n_files && echo passed" "echo edited >>d1/f200"
	fi
done
done_testing
