# What a shell command of an agent may see and use. See nsrun-profiles(5).

profile    shell

filter     seccomp-1
nesting    nesting-1		# its like, where --nesting allow is granted
network    denied isolated	# the default, and what a caller may ask for
hostname   sandbox
wall       300s
stdin      inherit

# Each process, but `processes`, which counts the whole sandbox. Memory is
# bounded by `data`, what a process may write privately, and not by
# `address-space`: V8, the JVM and Go reserve far more addresses than they use
# (node needs 10G of them for one WebAssembly memory).
limit      cpu 300
limit      data 4G
limit      processes 256
limit      files 1024
limit      file-size 256M
limit      core 1		# 0 would not stop a core_pattern pipe
limit      messages 256K
limit      locked 8M
limit      signals 4096
limit      realtime 0

# One tmpfs is the root and what is private in it, with one bound, in bytes and
# inodes, on the sum. The root itself is read-only once it is made.
tmpfs      1G 262144
private    /tmp 1777
private    /var/tmp 1777
private    /run 0755
private    /dev/shm 1777
private    home 0700		# at the path it has on the host

# Of the host, read-only, where it exists.
system     /usr /nix/store /nix/var/nix/profiles
merged     /bin /sbin /lib /lib32 /lib64 /libx32
path       /usr /bin /sbin /nix/store .cargo/bin toolchains project

# Toolchains: of the home where they usually are, and where a variable says,
# if what it names looks like one. Never what holds their credentials.
toolchain  .cargo/bin .cargo/registry .rustup .nvm .volta .npm-global/bin
toolchain  .npm-global/lib .pyenv go/bin go/pkg/mod .sdkman/candidates .jdks
toolchain  .local/bin .local/lib .local/share/uv/python .local/share/uv/tools
toolchain  .local/share/pipx/venvs
toolchain-env CARGO_HOME bin/cargo bin registry
toolchain-env RUSTUP_HOME toolchains .
toolchain-env NVM_DIR versions/node .
toolchain-env NPM_CONFIG_PREFIX lib/node_modules bin lib
toolchain-env PYENV_ROOT versions .
toolchain-env GOROOT bin/go .
toolchain-env GOPATH pkg/mod bin pkg/mod
toolchain-env JAVA_HOME bin/java .
toolchain-env JDK_HOME bin/java .

# /etc is made here (passwd group nsswitch.conf hosts); these are added
# from the host's: what programs need, nothing that identifies or authenticates.
etc        ld.so.cache alternatives localtime os-release
etc        ssl/certs ssl/openssl.cnf ca-certificates/extracted
etc        pki/tls/certs pki/tls/cert.pem pki/tls/openssl.cnf
etc        pki/ca-trust/extracted pki/java crypto-policies/back-ends
etc        mime.types protocols services fonts java-*

device     null zero full random urandom tty

# Of a repository, to be read: HEAD, index, objects and refs, with a
# configuration made here; no hooks, no logs.
git        minimal

# Control directories at the project's top, read-only where they exist.
control    .claude .openclaudia

# What a writable root may not hold (sockets, files with names elsewhere):
# refuse or shield; and how far it is looked through, then it is refused.
on-hazard  refuse
scan       4M 16384 120s

# Below /proc: read-only, and not to be opened at all; what only the host's root
# could write or read needs it only when the command is that.
cover      sys
mask       keys key-users
root-cover sysrq-trigger irq bus fs acpi scsi dynamic_debug driver asound mtrr
root-cover pressure
root-mask  timer_list sched_debug kcore kpagecount kpageflags kpagecgroup
root-mask  latency_stats slabinfo vmallocinfo kmsg

# Settings of the new namespaces.
lower      user/max_user_namespaces 0
lower      user/max_inotify_instances 64
lower      user/max_inotify_watches 65536
lower      kernel/shmall 65536
lower      kernel/msgmni 64
lower      kernel/sem 250 8000 32 64

set        OPENCLAUDIA_SANDBOX 1
