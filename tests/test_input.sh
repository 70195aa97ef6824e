#!/bin/sh
# Bad input: one line that says what, status 125, nothing run, nothing created.
. "${srcdir:?}"/tests/lib.sh
need_sandbox

# refused WHAT PATTERN WORD...: as a row
refused() {
	what="$caller: $1" pattern=$2; shift 2
	rm -f "$p/ran"
	before=$(cd "$(home "$caller")" && find . | sort)
	said=$(as "$caller" "$oc" run --stdin null "$@" 2>&1); rc=$?
	after=$(cd "$(home "$caller")" && find . | sort)
	# shellcheck disable=SC2254
	case $said in
	$pattern) match=1 ;;
	*) match=0 ;;
	esac
	lines=$(printf '%s\n' "$said" | grep -vc '^hint: ')
	if [ $rc = 125 ] && [ $match = 1 ] && [ "$lines" = 1 ] &&
	    [ "$before" = "$after" ]; then
		pass "$what"
	else
		fail "$what" "rc $rc, $lines lines, wanted $pattern
said: $said"
	fi
}

for caller in $callers; do
	p=$(project "$caller")
	touch_it="touch $p/ran"
	ln -s loop "$p/loop"
	mkdir -p "$p/../closed"; chmod 0 "$p/../closed"
	touch "$p/file"
	mkfifo "$p/../fifo"
	[ "$caller" = user ] && [ "$(id -u)" = 0 ] && chown -h $user_id "$p"/*

	refused "no command" "oc-nsrun: option: no command given*" --project .
	refused "an empty command" "oc-nsrun: plan: no command*" --project . -- ""
	refused "an unknown option" "*--bogus: is no option*" --bogus -- $touch_it
	refused "a short option" "*-x: is no option*" -x -- $touch_it
	refused "a mask without a project" "*no project*" --mask x -- $touch_it
	refused "a mask elsewhere" "*no granted root*" --project . --mask /etc/passwd -- $touch_it
	refused "a mask that is a root" "*no granted root*" --project . --mask "$p" -- $touch_it
	refused "a mask with .." "*\"..\" in it*" --project . --mask a/../b -- $touch_it
	refused "a mask of nothing" "*no path to mask*" --project . --mask ./ -- $touch_it
	refused "a mask that is too long" "*255 bytes*" --project . --mask "$(printf %0256d 0)" -- $touch_it
	refused "an unknown profile" "*no such profile" --profile bogus -- $touch_it
	refused "an option without value" "*--project: wants a value" --project
	refused "an empty value" "*--project*: wants a value" --project "" -- $touch_it
	refused "an empty value after =" "*wants a value" --project= -- $touch_it
	refused "a project that is not there" "*project*No such file*" --project no/such -- $touch_it
	refused "a project that is a file" "*project*Not a directory*" --project file -- $touch_it
	refused "a project that is a fifo" "*project*Not a directory*" --project ../fifo -- $touch_it
	refused "a project that is a loop of links" "*project*symbolic links*" --project loop -- $touch_it
	[ "$caller" = user ] &&
		refused "an unreadable project" "*project*Permission denied*" --project ../closed -- $touch_it
	for broad in / /usr /etc /home /tmp /var /proc /proc/self /sys /dev "$(home "$caller")" "$work"; do
		refused "broad: $broad" "*project*: is *" --project "$broad" -- $touch_it
		refused "broad, as a root: $broad" "*root*: is *" --rw "$broad" -- $touch_it
	done
	refused "a cwd outside the roots" "*is in no granted root" --project . --cwd /usr -- $touch_it
	refused "a cwd that is not there" "*No such file*" --project . --cwd no/such -- $touch_it
	refused "a cwd that is a file" "*is not a directory" --project . --cwd file -- $touch_it
	refused "a cwd through /proc" "*is in no granted root" --project . --cwd /proc/self/root/etc -- $touch_it
	refused "a descriptor that is not open" "*status-fd*Bad file descriptor*" --status-fd 99 -- $touch_it
	refused "a descriptor that is no number" "*is not a descriptor's number" --status-fd 3x -- $touch_it
	refused "a descriptor that overflows" "*is not a descriptor's number" --args-fd 99999999999 -- $touch_it
	refused "a negative descriptor" "*is not a descriptor's number" --env-fd -1 -- $touch_it
	refused "a duration that overflows" "*is not a duration*" --timeout 99999999999999999999s -- $touch_it
	refused "a duration of nothing" "*is not a duration*" --timeout 0 -- $touch_it
	refused "a negative duration" "*is not a duration*" --timeout -5s -- $touch_it
	refused "a size that overflows" "*is not a size*" --max-output 99999999999999T -- $touch_it
	refused "a limit that is none" "*is not KEY=VALUE*" --limit bogus=1 -- $touch_it
	refused "a limit above the profile's" "*only lowered" --limit processes=100000 -- $touch_it
	refused "a network that is none" "*is neither denied nor isolated" --network host -- $touch_it
	refused "a loader's variable" "*never passed on" --env LD_PRELOAD=x -- $touch_it
	refused "a credential's name" "*never passed on" --env GITHUB_TOKEN -- $touch_it
	refused "a reserved name" "*is reserved*" --env PATH=/x -- $touch_it
	refused "an odd name" "*is not a variable's name" --env 'A-B=x' -- $touch_it
	refused "root as an id" "*0 is not an id*" --as 0:0 -- $touch_it
	refused "--json, which is explain's" "*--json: belongs to explain" --json -- $touch_it
	if [ "$caller" = user ]; then
		refused "another id, for a user" "*only root*" --as 54321:54321 -- $touch_it
	fi
	if [ -e "$p/ran" ]; then fail "$caller: nothing ran"; else pass "$caller: nothing ran"; fi

	# Things that are large.
	head -c 10000000 /dev/zero | tr '\0' x >"$work/large"
	said=$(as "$caller" sh -c "exec $oc run --stdin null --project . --args-fd 9 -- true 9<$work/large" 2>&1); rc=$?
	is "$caller: 10 MB of arguments are refused by the kernel" "$rc" 126
	like "$caller: ... and told" "$said" "*Argument list too long*"
	# One word of the kernel's own limit passes.
	head -c 100000 /dev/zero | tr '\0' x >"$work/word"
	is "$caller: 100 kB in one argument" "$(as "$caller" sh -c \
		"exec $oc run --stdin null --project . --args-fd 9 -- printf %s 9<$work/word" | wc -c)" 100000

	said=$(as "$caller" "$oc" 2>&1); is "$caller: no subcommand" "$?" 125
	said=$(as "$caller" "$oc" bogus 2>&1); is "$caller: an unknown subcommand" "$?" 125
	chmod 700 "$p/../closed"
done
done_testing
