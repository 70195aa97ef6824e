# Sourced by the tests of overlays, after tests/lib.sh: for each caller a project
# of its own, and a state directory that is nobody else's.
#
# fresh CALLER		empty both; $P and $S are the two
# run CALLER ...	oc-nsrun run on the project's overlay
# cmd CALLER diff|apply|discard ...	in the project
# layer			the upper layer of the only overlay there is

fresh() {
	P=$(project "$1") S=$work/$1/state
	chmod -R u+rwX "$P" "$S" 2>/dev/null
	rm -rf --one-file-system "$P" "$S"
	as_maker "$1" mkdir -m 755 "$P" && as_maker "$1" mkdir -m 700 "$S" ||
		exit 99
}
# As the caller, though its project is not there.
as_maker() {
	maker=$1; shift
	if [ "$(id -u)" = 0 ] && [ "$maker" = user ]; then
		setpriv --reuid $user_id --regid $user_id --clear-groups "$@"
	else
		"$@"
	fi
}
run() {
	run_caller=$1; shift
	as "$run_caller" "$oc" run --state-dir "$S" --project "$P" "$@"
}
cmd() {
	cmd_caller=$1 cmd_word=$2; shift 2
	as "$cmd_caller" "$oc" "$cmd_word" --state-dir "$S" "$@"
}
layer() { echo "$S"/overlays/*/layer/upper; }

# An overlay of a directory that is the caller's own, as unshare(1) mounts it.
need_overlay() {
	for caller in $callers; do
		fresh $caller
		as $caller mkdir -p l u w m
		why=$(as $caller unshare -U -r -m sh -c 'mount -t overlay overlay \
			-o lowerdir=l,upperdir=u,workdir=w,userxattr m &&
			mkdir m/a && rmdir m/a' 2>&1) || {
			echo "1..0 # SKIP no unprivileged overlays here: $why"
			exit 0
		}
	done
}
# A whole tree as text: types, modes, targets, contents.
picture() {
	(cd "$1" && find . -mindepth 1 ! -path './.git*' -printf '%y %m %p %l\n' |
		LC_ALL=C sort && find . -type f ! -path './.git*' -exec cksum {} + |
		LC_ALL=C sort -k3)
}
