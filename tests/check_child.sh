#!/bin/sh
# What runs between clone and exec may call system calls and nothing else: no
# allocation, no stdio, no locale, no name service. Held to the list below.
set -u
echo 1..2
: "${top_builddir:?}"

# System calls, memory, strings, and our own that keep to the same.
calls='_exit|access|chdir|chroot|clock_gettime|close|dup2|execve|faccessat|fchdir|fchmod|fchmodat|fcntl(64)?|fgetxattr|flock|fstat(64)?|fstatfs(64)?|fstatat(64)?|geteuid|getpid|getrusage|ioctl|kill|mkdirat|mknodat|open(64)?|personality|openat(64)?|poll|prctl|pthread_sigmask|pwrite(64)?|read|readlinkat|recv(msg)?|send|sendmsg|sched_setaffinity|sethostname|setpriority|setrlimit(64)?|setns|setsid|sigaction|signalfd|sigprocmask|socket|socketpair|statx|symlinkat|syscall|umask|unlinkat|unshare|vfork|waitpid|write'
memory='memcpy|memmove|memset|strncmp|strcmp|strcspn|strlen|strnlen|strrchr|sigaddset|sigemptyset|gnu_dev_makedev|__errno_location|_GLOBAL_OFFSET_TABLE_|__stack_chk_fail|__tls_get_addr'
# _FORTIFY_SOURCE, sanitizers and coverage.
made='__[a-z]+_chk|__(asan|ubsan|gcov|llvm|sanitizer|sancov)_.*|_sanitizer.*'
ours='nsrun_(apply_[a-z_]+|child_(follow_parent|main|pass|say|wait)|err_(nomem|rule|sys)|exec_command|fd_[a-z_]+|init_main|load_filters|loopback_(raise|up)|mask_[a-z_]+|mount_[a-z_]+|path_is_within|returns_collect|stub_[a-z]+|target_[a-z]+)'
allowed="^($calls|$memory|$made|$ours)\$"

objects=
for unit in apply-apply_caps apply-apply_covers apply-apply_fds \
    apply-apply_files apply-apply_filter apply-apply_idmap \
    apply-apply_kernelfs apply-apply_limits apply-apply_masks apply-apply_mounts \
    apply-apply_network apply-apply_overlay apply-apply_returns \
    apply-apply_scheduling \
    apply-apply_sysctl apply-apply_whiteouts apply-child \
    apply-exec apply-init apply-stub apply-target base-err base-fd plan-attributes; do
	dir=${unit%%-*} name=${unit#*-}
	object=$top_builddir/lib/$dir/.libs/$name.o
	[ -f "$object" ] || { echo "Bail out! no $object"; exit 99; }
	objects="$objects $object"
done
# path.o has more than the child needs, and nothing that it must not.
objects="$objects $top_builddir/lib/base/.libs/path.o"

bad=$(nm -u $objects |
	awk 'NF == 2 && $1 == "U" { sub(/@.*/, "", $2); print $2 }' |
	grep -vE "$allowed" | grep -vE '^(strchr)$' | sort -u)
if [ -z "$bad" ]; then
	echo "ok 1 - nothing but system calls between clone and exec"
else
	echo "not ok 1 - nothing but system calls between clone and exec"
	echo "$bad" | sed 's/^/# /'
fi

# Every apply object is looked at: a new one cannot slip past the list above.
missing=
for source in "$srcdir"/lib/apply/*.c; do
	name=$(basename "$source" .c)
	case "$objects" in *"/lib/apply/.libs/$name.o"*) ;; *) missing="$missing $name" ;; esac
done
if [ -z "$missing" ]; then
	echo "ok 2 - every object of lib/apply is checked"
else
	echo "not ok 2 - every object of lib/apply is checked"
	echo "# not listed:$missing"
fi
