#!/bin/sh
# Limits on all of a launch: what is accepted, what is refused and how, what the
# plan says of them.
. "${srcdir:?}"/tests/lib.sh
need_sandbox

for caller in $callers; do
	# refused WHAT PATTERN OPTION...: status 125, one line that matches
	refused() {
		what=$1 pattern=$2; shift 2
		said=$(as "$caller" "$oc" run --project . "$@" -- sh -c 'echo ran' 2>&1); rc=$?
		case $rc:$said in
		125:$pattern) pass "$caller: $what" ;;
		*) fail "$caller: $what" "rc $rc: $said" ;;
		esac
	}
	for word in on none relative/dir ./x 1; do
		refused "--cgroup $word" "oc-nsrun: option --cgroup $word: is neither auto, require, off nor an absolute path" --cgroup "$word"
	done
	refused "--cgroup without a value" "oc-nsrun: option --cgroup=: wants a value" --cgroup=
	refused "a directory that is no cgroup" "oc-nsrun: cgroup $work: is not a directory of a cgroup2 file system*" --cgroup "$work"
	refused "a directory that is not there" "oc-nsrun: cgroup /no/such/cgroup: open: No such file*" --cgroup /no/such/cgroup
	refused "a directory that is a file" "oc-nsrun: cgroup /etc/passwd: open: Not a directory*" --cgroup /etc/passwd
	refused "... even with nothing to limit" "*hint: oc-nsrun doctor *" --cgroup "$work"
	for word in x -1 1X 1.5G "" 99999999999999999999 0 4K; do
		refused "memory=$word" "oc-nsrun: option --limit memory=$word: is not a number*" --limit "memory=$word"
	done
	for word in x -1 0 0.001 1,5 1.5.5 1h 2ms "" 1e3; do
		refused "cpus=$word" "oc-nsrun: option --limit cpus=$word: is not a number*" --limit "cpus=$word"
	done
	for key in io-read io-write; do
		for word in x -1 0 1; do
			refused "$key=$word" "oc-nsrun: option --limit $key=$word: is not a number*" --limit "$key=$word"
		done
	done
	for key in swap write inodes; do
		for word in x -1 1X ""; do
			refused "$key=$word" "oc-nsrun: option --limit $key=$word: is not a number*" --limit "$key=$word"
		done
	done
	for word in x -1 1X 1.5G; do
		refused "--max-write $word" "oc-nsrun: option --max-write $word: is not a size like 10M" --max-write "$word"
	done
	refused "a limit that is none" "oc-nsrun: option --limit pids=1: is not KEY=VALUE*" --limit pids=1
	for limit in memory=1G swap=1G cpus=1 io-read=1M io-write=1M; do
		refused "$limit without a cgroup" "oc-nsrun: option ${limit%=*}: is a limit that only a cgroup can keep (--cgroup off)" --limit $limit --cgroup off
	done

	plan() { as "$caller" "$oc" explain --project . "$@" -- true 2>&1; }
	like "$caller: explain: limits as they were said" "$(plan --limit memory=1G --limit cpus=1.25 --max-write 2G --limit inodes=5K)" \
		"*  memory 1G  cpus 1.25  write 2G  inodes 5K*"
	like "$caller: explain: a settings list" "$(plan --json --limit memory=1M --limit cpus=1.5)" \
		'*"cgroup": {"use": "require", "parent": null, "settings": *{"file": "memory.max", "value": "1048576"}, {"file": "memory.swap.max", "value": "0"}*{"file": "cpu.max", "value": "150000 100000"}*'
	like "$caller: explain: swap is what is said" "$(plan --json --limit memory=1M --limit swap=3M)" '*{"file": "memory.swap.max", "value": "3145728"}*'
	like "$caller: explain: processes" "$(plan --json --limit processes=7)" '*"use": "auto"*{"file": "pids.max", "value": "7"}*'
	like "$caller: explain: none" "$(plan --json --cgroup off)" '*"cgroup": {"use": "off", "parent": null, "settings": \[\]}*'
	like "$caller: explain: a directory" "$(plan --json --cgroup /a/b)" '*"cgroup": {"use": "require", "parent": "/a/b"*'

	ok "$caller: auto is no error where there is none" as "$caller" "$oc" run --project . --cgroup auto -- true
	ok "$caller: off" as "$caller" "$oc" run --project . --cgroup off -- true

	bwrap=$top_builddir/helper/oc-bwrap
	for limit in memory=1G write=1G cpus=1; do
		said=$("$bwrap" --ro-bind / / --rlimit $limit true 2>&1); rc=$?
		case $rc:$said in
		1:*"Invalid --rlimit: $limit"*) pass "$caller: oc-bwrap --rlimit $limit" ;;
		*) fail "$caller: oc-bwrap --rlimit $limit" "rc $rc: $said" ;;
		esac
	done
done

done_testing
