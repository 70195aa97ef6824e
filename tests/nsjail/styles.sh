#!/bin/bash
# The ways in which public projects call nsjail, each as its users see it: what
# comes out, the status, and what of the log they parse.
. "${srcdir:?}"/tests/lib.sh
need_sandbox
jail=$work/nsjail
cp "$top_builddir"/nsjail-compat/oc-nsjail "$jail" || exit 99
# What of a Debian every jail below has.
system='{ src: "/bin" dst: "/bin" is_bind: true },
	{ src: "/lib" dst: "/lib" is_bind: true },
	{ src: "/usr" dst: "/usr" is_bind: true },
	{ src: "/lib64" dst: "/lib64" is_bind: true mandatory: false }'

run() { as "$caller" timeout -s KILL 30 "$jail" "$@" 2>"$work"/err; }
# As run, and the status behind what it said.
said() { run "$@"; echo "= $?"; }

# A challenge behind a super-server: standard input is a socket's.
ctf_host() {
	cat >"$dir"/nsjail.cfg <<-EOF
	name: "default-nsjail-configuration"
	description: "A challenge."
	mode: ONCE
	uidmap {inside_id: "1000"}
	gidmap {inside_id: "1000"}
	rlimit_as_type: HARD
	rlimit_cpu_type: HARD
	rlimit_nofile_type: HARD
	rlimit_nproc_type: HARD
	cwd: "/home/user"
	mount: [
	  $system,
	  { src: "$dir" dst: "/home/user" is_bind: true },
	  { dst: "/tmp" fstype: "tmpfs" rw: true },
	  { dst: "/proc" fstype: "proc" rw: true },
	  { src: "/etc/no-such-resolv.conf" dst: "/etc/resolv.conf" is_bind: true mandatory: false }
	]
	EOF
	echo flag{x} >"$dir"/flag
	is "$caller: CTF host" "$(printf 'cat flag\nid -u\nexit 3\n' |
		said --config "$dir"/nsjail.cfg -- /bin/sh)" "flag{x}
1000
= 3"
}

# A file of one line that a program has written, two blanks between fields.
ctf_image() {
	printf '%s' 'mode:ONCE  hostname:"app"  cwd:"/app"  time_limit:20  rlimit_as_type:HARD  rlimit_cpu_type:HARD  rlimit_fsize_type:HARD  rlimit_nofile_type:HARD  seccomp_string:"\n\t\t\tERRNO(1) {\n\t\t\t\tclone { (clone_flags & 0x7e020000) != 0 },\n\t\t\t\tmount, sethostname, umount, pivot_root, unshare\n\t\t\t}\n\t\t\tDEFAULT ALLOW\n\t\t"  mount:{src:"/"  dst:"/"  is_bind:true  nosuid:true  nodev:true}  mount:{dst:"/tmp"  fstype:"tmpfs"  options:"size=65536"  rw:true  nosuid:true  nodev:true}  mount:{src:"'"$dir"'"  dst:"/mnt"  is_bind:true}  exec_bin:{path:"/mnt/run"}' |
		sed 's|cwd:"/app"|cwd:"/mnt"|' >"$dir"/nsjail.cfg
	printf '#!/bin/sh\nhostname; pwd\nunshare -U true 2>/dev/null || echo refused\nstat -f -c %%b*%%S /tmp\n' >"$dir"/run
	chmod 755 "$dir"/run
	is "$caller: CTF image" "$(said -C "$dir"/nsjail.cfg)" "app
/mnt
refused
16*4096
= 0"
}

# A worker: the host's network and environment, errors only, its own command.
worker() {
	cat >"$dir"/run.config.proto <<-EOF
	name: "python run script"
	mode: ONCE
	hostname: "python"
	log_level: ERROR
	time_limit: 60
	rlimit_as: 4096 rlimit_cpu: 1000 rlimit_fsize: 1000 rlimit_nofile: 10000
	cwd: "/tmp"
	clone_newnet: false
	skip_setsid: true
	keep_caps: false keep_env: true
	mount_proc: true
	mount: [ $system ]
	mount { src: "/dev/null" dst: "/dev/null" is_bind: true rw: true }
	mount { dst: "/tmp" fstype: "tmpfs" rw: true options: "size=500000000" }
	mount { src: "$dir/main.sh" dst: "/tmp/main.sh" is_bind: true }
	mount { src: "$dir/result.json" dst: "/tmp/result.json" rw: true is_bind: true }
	mount { src: "/etc" dst: "/etc" is_bind: true }
	mount { src: "/proc/self/fd" dst: "/dev/fd" is_symlink: true }
	iface_no_lo: true
	envar: "LD_LIBRARY_PATH=/usr/local/lib:\$LD_LIBRARY_PATH"
	envar: "HOME=/tmp"
	EOF
	: >"$dir"/result.json
	chmod 666 "$dir"/result.json
	printf '%s\n' 'echo "{\"a\": 1}" >result.json' 'echo $HOME $WORKER' \
		'echo $LD_LIBRARY_PATH' 'exit 2' >"$dir"/main.sh
	is "$caller: worker" "$(as "$caller" env WORKER=w1 \
		"$jail" --config "$dir"/run.config.proto -- /bin/sh main.sh 2>&1
		echo "= $?"; cat "$dir"/result.json)" "/tmp w1
/usr/local/lib:\$LD_LIBRARY_PATH
= 2
{\"a\": 1}"
}

# A code runner that reads the log by a regular expression.
snippet_runner() {
	cat >"$dir"/snek.cfg <<-EOF
	name: "snippets" description: "run a snippet"
	mode: ONCE hostname: "snippets" cwd: "/snippet"
	time_limit: 1
	keep_env: false
	envar: "LANG=en_US.UTF-8" envar: "OMP_NUM_THREADS=5"
	keep_caps: false
	rlimit_as: 700
	clone_newnet: true clone_newuser: true clone_newns: true
	clone_newpid: true clone_newipc: true clone_newuts: true
	clone_newcgroup: true
	uidmap { inside_id: "65534" } gidmap { inside_id: "65534" }
	mount_proc: false
	mount [ $system ]
	mount { src: "$dir" dst: "/snippet" is_bind: true rw: true }
	rlimit_fsize: 134217728
	iface_no_lo: true
	EOF
	is "$caller: snippet runner" "$(said -C "$dir"/snek.cfg \
		-l "$dir"/snek.log -- /bin/sh -c 'echo $OMP_NUM_THREADS; sleep 9')" \
		"5
= 137"
	is "$caller: its log, each line as it is looked for" "$(grep -vcE \
		'^\[(I\]\[[^]]+\]|[DWEF]\]\[[^]]+\]\[[0-9]+\] [^ ]+:[0-9]+) .+' \
		"$dir"/snek.log)" 0
	is "$caller: of the limit" "$(grep -c 'run time >= time limit' \
		"$dir"/snek.log)" 1
	rm -f "$dir"/snek.log
}

# A compiler site: options behind the file, a program by its relative name.
compiler_site() {
	cat >"$dir"/execute.cfg <<-EOF
	name: "user execution"
	mode: ONCE
	hostname: "ce"
	time_limit: 0
	log_level: FATAL
	rlimit_as_type: INF
	rlimit_cpu_type: SOFT
	rlimit_fsize: 16 # 16 MiB
	rlimit_nofile: 100
	uidmap { inside_id: "0" }
	gidmap { inside_id: "0" }
	mount: [ $system ]
	mount { src_content: "ce:x:10240:10240:nobody:/app:/bin/bash" dst: "/etc/passwd" is_bind: true }
	mount { dst: "/tmp" fstype: "tmpfs" options: "size=20971520,nr_inodes=100" rw: true noexec: true nodev: true nosuid: true }
	mount { dst: "/dev" fstype: "tmpfs" }
	mount { src: "/dev/null" dst: "/dev/null" rw: true is_bind: true }
	mount { src: "/dev/urandom" dst: "/dev/random" is_bind: true }
	mount { src: "/dev/no-such-gpu" dst: "/dev/gpu" is_bind: true mandatory: false }
	mount { dst: "/proc" fstype: "proc" rw: true }
	EOF
	printf '#!/bin/sh\npwd; id -u; echo $HOME; echo made >made; kill -SEGV $$\nexit 4\n' >"$dir"/output.s
	chmod 755 "$dir"/output.s
	is "$caller: compiler site" "$(said --config "$dir"/execute.cfg \
		--env=HOME=/app --cwd /app --bindmount "$dir":/app \
		-- ./output.s)" "/app
0
/app
= 4"
	is "$caller: what it made" "$(cat "$dir"/made)" made
	is "$caller: a program that is not there" "$(said --log_fd 2 \
		--config "$dir"/execute.cfg -v --cwd /app -- ./none
		grep -c 'runChild():486 Launching child process failed' \
		"$work"/err)" "= 255
1"
}

# A build: the host's tree read-only but for some of it, no limits of ours.
build() {
	as "$caller" mkdir -p "$dir"/out
	is "$caller: build" "$(said -H build -e -u nobody -g nogroup -R / -B /tmp \
		-B "$dir"/out --disable_clone_newcgroup -q -t 0 \
		--rlimit_as soft --rlimit_core soft --rlimit_cpu soft \
		--rlimit_fsize soft --rlimit_nofile soft --proc_rw \
		-D "$dir" -- /bin/sh -c 'hostname; echo x >out/made && cat out/made
		(: >/usr/made) 2>/dev/null || echo ro')" "build
x
ro
= 0"
	is "$caller: build, asked whether it can" "$(said -H build -e -u nobody \
		-g nogroup -R /bin -R /lib -R /lib64 -R /usr -R /dev -R /etc -- \
		/bin/bash -c 'if [ $(hostname) == build ]; then echo Success; fi')" \
		"Success
= 0"
}

# A judge: its verdict is the status.
judge() {
	judged() {
		printf '3 4\n' >"$dir"/in
		run -Mo -Q --chroot / --user 1111 --group 1111 --time_limit 1 \
			--rlimit_as 256 --rlimit_fsize 8 --rlimit_nofile 16 \
			--max_cpus 1 --disable_proc --iface_no_lo -B "$dir":/mnt \
			--cwd /mnt -- /bin/sh -c "$1" <"$dir"/in >"$dir"/out.txt
		echo $?
	}
	is "$caller: judge, accepted" "$(judged 'read a b; echo $((a + b))'
		cat "$dir"/out.txt)" "0
7"
	is "$caller: judge, wrong" "$(judged 'exit 1')" 1
	is "$caller: judge, too late" "$(judged 'sleep 9')" 137
	# Of pid 1, which a shell is here: of its child's signal it tells.
	is "$caller: judge, a crash" "$(judged 'sh -c "kill -SEGV \$\$"; exit $?')" 139
	is "$caller: judge, too much output" "$(judged \
		'head -c 20000000 /dev/zero 2>/dev/null || exit 5')" 5
	is "$caller: judge, too much memory" "$(judged \
		'dd if=/dev/zero of=/dev/null bs=600M count=1 2>/dev/null || exit 6')" 6
}

# An agent's wrapper: calls denied by name, signals passed on, the end as JSON.
agent() {
	is "$caller: agent" "$(said -q -Mo --chroot / --forward_signals \
		--seccomp_string 'POLICY agent {
			ERRNO(1) { ptrace, process_vm_readv, process_vm_writev,
				mount, umount, pivot_root, chroot, setns, unshare,
				keyctl, add_key, request_key, bpf, perf_event_open,
				init_module, finit_module, delete_module,
				kexec_load, reboot, swapon, swapoff, settimeofday,
				acct, quotactl, userfaultfd, syslog }
		} USE agent DEFAULT ALLOW' -- /bin/sh -c \
		'chroot / true 2>/dev/null || echo refused')" "refused
= 0"
	as "$caller" sh -c 'echo $$ >pid; exec "$@"' sh "$jail" -q --init \
		--forward_signals --chroot / --status_fd 9 -- /bin/sh -c \
		'trap "echo bye; exit 7" TERM; echo up
		while :; do sleep 0.1; done' >"$work"/agent 9>"$work"/status \
		2>"$work"/err &
	waited=$!
	eventually "$caller: agent is up" grep -q up "$work"/agent
	kill -TERM "$(cat "$(project "$caller")"/pid)"
	wait $waited
	is "$caller: agent, told to end" "$?: $(tr '\n' ' ' <"$work"/agent)" \
		"143: up bye "
	like "$caller: agent, its last record" "$(tail -n 1 "$work"/status)" \
		'*"event": "exited"*'
}

for caller in $callers; do
	dir=$(project "$caller")/style
	mkdir -p "$dir"
	[ "$(id -u)" = 0 ] && [ "$caller" = root ] && chmod 711 "$(home root)"
	for style in ctf_host ctf_image worker snippet_runner compiler_site \
		build judge agent; do
		$style
		rm -rf "$dir"
		mkdir -p "$dir"
		if [ "$(id -u)" = 0 ] && [ "$caller" = user ]; then
			chown $user_id:$user_id "$dir"
		fi
	done
done
done_testing
