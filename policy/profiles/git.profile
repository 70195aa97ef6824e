# What git itself sees when oc-nsrun git runs it on a repository that nobody
# vouches for: git and its libraries, and nothing else that could be run.

profile    git

filter     seccomp-1
network    denied
hostname   sandbox
wall       none
stdin      inherit
git        worktree

limit      data 4G
limit      processes 256
limit      files 1024
limit      core 1
limit      messages 256K
limit      locked 8M
limit      signals 4096
limit      realtime 0

tmpfs      1G 262144
private    /tmp 1777
private    home 0700

# No shell: what a repository names to be run is not found.
system     /usr/bin/git /usr/local/bin/git
system     /usr/lib/git-core /usr/libexec/git-core /usr/local/libexec/git-core
system     /usr/share/git-core /usr/share/zoneinfo
system     /usr/lib/x86_64-linux-gnu /usr/lib/aarch64-linux-gnu /usr/lib64
system     /nix/store
merged     /lib /lib64
path       /usr /nix/store
etc        ld.so.cache localtime
device     null zero full random urandom tty

control    .claude .openclaudia

cover      sys
mask       keys key-users
root-cover sysrq-trigger irq bus fs acpi scsi dynamic_debug driver asound mtrr
root-cover pressure
root-mask  timer_list sched_debug kcore kpagecount kpageflags kpagecgroup
root-mask  latency_stats slabinfo vmallocinfo kmsg

lower      user/max_user_namespaces 0
lower      user/max_inotify_instances 64
lower      user/max_inotify_watches 65536
lower      kernel/shmall 65536
lower      kernel/msgmni 64
lower      kernel/sem 250 8000 32 64
