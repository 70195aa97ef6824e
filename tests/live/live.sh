#!/bin/sh
# Real work inside, on sources that none of us wrote. Part of make check with what
# the machine has; tests/live/live.sh --full also fetches two C packages with
# apt-get source and builds them with their test suites.
. "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"/tests/lib.sh
need_sandbox
full=0
[ "${1-}" = --full ] && full=1

# has TOOL: visible inside, that is below /usr
has() { tool=$(command -v "$1") && case $(readlink -f "$tool") in /usr/*) ;; *) false ;; esac; }
need() {
	for tool in "$@"; do
		has "$tool" || { skip "$caller: $what" "no $tool below /usr"; return 1; }
	done
}

for caller in $callers; do
	p=$(project "$caller")
	run() { as "$caller" "$oc" run --stdin null --project . "$@"; }

	what="a C program with make -j"
	if need gcc make; then
		as "$caller" sh -c 'mkdir c && cd c && cat >Makefile <<"M"
OBJS = a.o b.o c.o d.o main.o
prog: $(OBJS)
	$(CC) -o $@ $(OBJS)
M
for f in a b c d; do echo "int $f(void) { return 1; }" >$f.c; done
echo "#include <stdio.h>
int a(void), b(void), c(void), d(void);
int main(void) { return printf(\"%d\", a() + b() + c() + d()) != 1; }" >main.c'
		is "$caller: $what" "$(run --cwd c -- sh -c 'make -s -j4 && ./prog' 2>&1)" 4
	fi

	what="git status, diff, log"
	if need git; then
		as "$caller" sh -c 'git init -q repo && cd repo && git config user.email t@t && git config user.name t &&
			echo one >f && git add f && git commit -qm first && echo two >>f' || :
		r=$p/repo
		is "$caller: $what" "$(as "$caller" "$oc" run --stdin null --project "$r" -- sh -c \
			'git status --short && git diff | grep -c "^+two" && git log --oneline | wc -l' | tr '\n' ' ')" " M f 1 1 "
		status "$caller: git cannot commit, .git is read-only" 128 \
			as "$caller" "$oc" run --stdin null --project "$r" -- git commit -qam second
	fi

	what="perl"
	need perl && is "$caller: $what" "$(run -- perl -e 'print join ",", map { $_ * 2 } 1..3')" 2,4,6

	what="python: asyncio, multiprocessing, ssl"
	python=/usr/bin/python3
	if [ ! -x $python ]; then
		skip "$caller: $what" "no $python"
	else
		cat >"$p/t.py" <<'PY'
import asyncio, multiprocessing, ssl, tempfile
def square(x): return x * x
async def main():
    p = await asyncio.create_subprocess_exec("echo", "sub", stdout=asyncio.subprocess.PIPE)
    return (await p.communicate())[0].decode().strip()
if __name__ == "__main__":
    with multiprocessing.Pool(2) as pool: print(pool.map(square, [1, 2, 3]), end=" ")
    print(asyncio.run(main()), end=" ")
    ssl.create_default_context()
    with tempfile.TemporaryFile() as f: f.write(b"x")
    try:
        bytearray(5 << 30); print("5 GiB")
    except MemoryError: print("bounded")
PY
		is "$caller: $what" "$(run -- $python t.py 2>&1)" "[1, 4, 9] sub bounded"
	fi

	what="node: children, WebAssembly, worker threads"
	if need node; then
		cat >"$p/t.js" <<'JS'
const { execFileSync } = require("child_process");
const { Worker } = require("worker_threads");
process.stdout.write(execFileSync("echo", ["child"]).toString().trim() + " ");
new WebAssembly.Memory({ initial: 1, maximum: 65536 });
new Worker("require('worker_threads').parentPort.postMessage('worker')", { eval: true })
  .on("message", m => console.log(m));
JS
		is "$caller: $what" "$(run -- node t.js 2>&1)" "child worker"
		what="npm: a package's tests"
		if has npm && as "$caller" mkdir -p pkg && as "$caller" sh -c 'cd pkg && cat >package.json <<"J"
{ "name": "t", "version": "1.0.0", "scripts": { "test": "node --test a.test.js" } }
J
echo "require(\"node:test\")(\"works\", () => {});" >a.test.js'; then
			status "$caller: $what" 0 as "$caller" "$oc" run --stdin null --project pkg -- npm test
		else
			skip "$caller: $what" "no npm below /usr"
		fi
	fi

	what="javac, java"
	if need javac java; then
		echo 'public class H { public static void main(String[] a) { System.out.println("java " + new int[100 << 20].length); } }' >"$p/H.java"
		chown "$(stat -c %u:%g "$p")" "$p/H.java"
		is "$caller: $what" "$(run -- sh -c 'javac H.java && java H' 2>&1)" "java 104857600"
	fi

	what="cargo build --offline"
	# Toolchains of rustup stand in the home of whoever runs the test.
	cargo=$(command -v cargo 2>/dev/null || :)
	if [ -n "$cargo" ] && [ "$caller" = root ] && [ -d "${HOME:-/root}/.rustup" ]; then
		mkdir -p "$p/crate/src"
		printf '[package]\nname = "t"\nversion = "0.1.0"\nedition = "2021"\n' >"$p/crate/Cargo.toml"
		echo 'fn main() { println!("rust"); }' >"$p/crate/src/main.rs"
		is "$caller: $what" "$(cd "$p/crate" && "$oc" run --stdin null --timeout 280s --project . -- cargo run -q --offline 2>&1)" rust
	else
		skip "$caller: $what" "no cargo with its toolchains in this caller's home"
	fi

	if [ $full = 1 ]; then
		for package in hello libuv1; do
			what="apt-get source $package, built and tested"
			dir=$work/$caller/home/src-$package
			mkdir -p "$dir" && (cd "$dir" && apt-get source -qq "$package" >/dev/null 2>&1)
			src=$(ls -d "$dir"/*/ 2>/dev/null | head -n 1)
			if [ -z "$src" ]; then
				skip "$caller: $what" "no sources: deb-src is not configured or not reached"
				continue
			fi
			chown -R "$(stat -c %u:%g "$p")" "$dir"
			if [ -f "$src/CMakeLists.txt" ] && [ "$package" != hello ]; then
				build='cmake -S . -B b >/dev/null && cmake --build b -j2 >/dev/null && cd b && ctest -j2 -E "tcp|udp|pipe|ipc|getaddrinfo|poll|spawn|process|tty|socket|listen|connect|fs_event|metrics|thread|queue" | tail -n 3; test -f b/libuv.a -o -f libuv.a'
			else
				build='./configure -q >/dev/null && make -s -j2 >/dev/null && make -s check 2>&1 | grep -E "^# (PASS|FAIL)"'
			fi
			status "$caller: $what" 0 as "$caller" "$oc" run --stdin null --timeout 10m --project "$src" -- sh -c "$build"
			diag "$said"
		done
	fi
done
done_testing
