#!/bin/sh
# policy: what is listed, shown, checked and exported is what is loaded.
. "${srcdir:?}"/tests/lib.sh

embedded="document-parser git git-worktree language-server mcp-stdio
quality-gate repository-hook shell static-analyzer"
for caller in $callers; do
	policy() { as "$caller" "$oc" policy "$@"; }
	is "$caller: the profiles" "$(policy list | sed -n 's/^profile //p' | sort | tr '\n' ' ')" \
		"$(printf '%s ' $embedded)"
	like "$caller: the filters" "$(policy list | tr '\n' ' ')" "*filter seccomp-1 filter nosetid-1 *"
	for name in $embedded; do
		policy show "$name" >"$work/shown"
		ok "$caller: $name is shown as written" cmp "$work/shown" "$srcdir/policy/profiles/$name.profile"
		ok "$caller: $name is checked" policy check "$srcdir/policy/profiles/$name.profile"
	done

	# The compiler in the program makes what the one of the build made.
	for name in seccomp-1 nosetid-1; do
		is "$caller: $name compiles to what is embedded" \
			"$(policy check "$srcdir/policy/$name.policy")" \
			"$(policy show $name | grep '^# .* sha256 ')"
	done
	for arch in x86_64 aarch64; do
		for variant in denied isolated; do
			is "$caller: export of $variant for $arch has the hash that is shown" \
				"$(policy export seccomp-1 --arch $arch --variant=$variant | sha256sum | sed 's/ .*//')" \
				"$(policy show seccomp-1 | sed -n "s/^# seccomp-1 $variant for $arch: .* sha256 //p")"
		done
		is "$caller: the first variant is the default, for $arch" \
			"$(policy export --arch $arch seccomp-1 | sha256sum)" \
			"$(policy export seccomp-1 --arch $arch --variant denied | sha256sum)"
	done

	# wrong WHAT PATTERN WORD...: one line, status 125, nothing on stdout
	wrong() {
		what="$caller: $1" pattern=$2; shift 2
		said=$(policy "$@" 2>&1 >"$work/out"); rc=$?
		if [ $rc = 125 ] && [ ! -s "$work/out" ] &&
		    [ "$(printf '%s\n' "$said" | wc -l)" = 1 ]; then
			like "$what" "$said" "$pattern"
		else
			fail "$what" "rc $rc: $said"
		fi
	}
	wrong "no word" "*wants list*"
	wrong "an unknown word" "*wants list*" bogus
	wrong "show of nothing there is" "*no such filter or profile" show bogus
	wrong "a name that is a path" "*no such filter or profile" show ../../etc/passwd
	wrong "two names" "*one word too many" show shell shell
	wrong "check without a file" "*wants list*" check
	wrong "check of no file" "*No such file*" check no/such.policy
	wrong "check of a directory" "*Is a directory" check .
	wrong "export alone" "*wants NAME --arch ARCH" export
	wrong "export without an architecture" "*wants NAME --arch ARCH" export seccomp-1
	wrong "export for none" "*is neither x86_64 nor aarch64" export seccomp-1 --arch riscv64
	wrong "export of no filter" "*there is no such filter*" export bogus --arch x86_64
	wrong "export of a profile" "*there is no such filter*" export shell --arch x86_64
	wrong "export of no variant" "*there is no such filter*" export seccomp-1 --arch x86_64 --variant x
	wrong "an option without value" "*--arch: wants a value" export seccomp-1 --arch
	wrong "an empty value" "*wants a value" export seccomp-1 --arch=
	wrong "an unknown option" "*is no option of policy export" export seccomp-1 --bogus
	wrong "an option twice" "*one word too many" export seccomp-1 --arch x86_64 --arch x86_64

	# mistake WHAT NAME TEXT PLACE: named by line and column
	mistake() {
		# shellcheck disable=SC2059
		printf "$3" >"$work/$2"
		wrong "$1" "*$work/$2$4*" check "$work/$2"
	}
	good='filter x\narch x86_64 else kill\ndefault ENOSYS\n'
	mistake "an unknown call" x.policy "${good}allow read bogus\n" ":4:12: *unknown system call*"
	mistake "an unknown action" x.policy "${good}maybe read\n" ":4:1:"
	mistake "a call twice" x.policy "${good}allow read\nEPERM read\n" ":5:7:"
	mistake "a byte that is no text" x.policy "${good}allow r\001ead\n" ":4:"
	mistake "an empty filter" x.policy "" ":"
	mistake "a keyword of no profile" x.profile "profile x\nlike shell\n  bogus 1\n" ":3:3: is no keyword*"
	mistake "a base that is none" x.profile "profile x\nlike bogus\n" ":2:6: is no profile of this release"
	mistake "a profile without a filter" x.profile "profile x\nnetwork denied\n" ":"
	mistake "a filter that is none" x.profile "profile x\nlike shell\nfilter bogus\n" " -> bogus: names a filter that is not there*"
	mistake "a filter for nesting that is none" x.profile "profile x\nlike shell\nnesting bogus\n" " -> bogus: names a filter that is not there*"
	mistake "a keyword of no configuration" x.conf "# a comment\nproject any\ngrant x\n" ":3:1: is no keyword*"
	mistake "a relative directory" x.conf "project srv/x\n" ":1:9: is not an absolute path*"
	mistake "a directory with .." x.conf "project /srv/../etc\n" ":1:9: is not an absolute path*"
	mistake "a credential for everybody" x.conf "env A GITHUB_TOKEN\n" ":1:7: is no name*"
	mistake "a loader's name for a server" x.conf "server-env LD_PRELOAD\n" ":1:12: is no name*"
	mistake "a pattern of servers" x.conf "server a/*\n" ":1:8: is not PLUGIN/SERVER"
	mistake "nesting" x.conf "nesting deny\n" ":1:9: can only be allow"
	mistake "nesting twice over" x.conf "nesting allow allow\n" ":1:9: can only be allow"
	mistake "any among others" x.conf "env A any\n" ":1:7: stands alone"
	mistake "a mode that is none" x.conf "permit everything\n" ":1:8: is neither*"
	mistake "a mask that leads outside" x.conf "mask ../x\n" ":1:6: is not a path*"
	mistake "a keyword without words" x.conf "env\n" ":1:1: wants a list"
	mistake "a NUL byte" x.conf "env A\n\000" "*NUL byte"
	mistake "a file of another kind" x.txt "env A\n" "*ends in neither*"
	head -c 70000 /dev/zero | tr '\0' '#' >"$work/x.conf"
	wrong "a file that is too large" "*File too large" check "$work/x.conf"
	printf 'env A B_1\nserver a/b c/d\npermit hook-none\nmask .env a/b\n' >"$work/x.conf"
	is "$caller: a good configuration" "$(policy check "$work/x.conf")" "# configuration"
done

# A terminal is no place for a program.
if command -v script >/dev/null; then
	like "export to a terminal" "$(script -qec "$oc policy export seccomp-1 --arch x86_64" /dev/null </dev/null)" "*is a terminal*"
else
	skip "export to a terminal" "script(1) is not here"
fi

# What is exported is a filter for others, and holds.
need=$(as user unshare -U -r true 2>&1) || { skip "oc-bwrap takes it" "$need"; done_testing; }
cp "$top_builddir"/helper/oc-bwrap "$work"/oc-bwrap || exit 99
"$oc" policy export seccomp-1 --arch "$(uname -m)" >"$work/program"
for caller in $callers; do
	status "$caller: oc-bwrap takes what was exported" 0 as "$caller" sh -c \
		'exec "$1" --ro-bind / / --dev /dev --proc /proc --seccomp 9 -- true 9<"$2"' sh "$work/oc-bwrap" "$work/program"
	fails "$caller: ... and it is in force" as "$caller" sh -c \
		'exec "$1" --ro-bind / / --dev /dev --proc /proc --seccomp 9 -- unshare -U true 9<"$2"' sh "$work/oc-bwrap" "$work/program"
	status "$caller: ... which it is not by itself" 0 as "$caller" "$work/oc-bwrap" \
		--ro-bind / / --dev /dev --proc /proc -- unshare -U true
done
done_testing
