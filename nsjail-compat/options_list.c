/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every option, once: getopt_long(3), --help and the tests read this list. */
#include <string.h>

#include "nsjail.h"

#define FIELD(name, letter, arg, field, help) \
	{ name, letter, arg, help, nsjail_do_field, field, 0 }
#define UNSET(name, letter, field, help) \
	{ name, letter, NULL, help, nsjail_do_unset, field, 0 }
#define LIMIT(field, kind, unit, help) \
	{ field, 0, "VALUE", help ", in " unit \
	    "; or a number, soft, hard, inf", nsjail_do_limit, field, kind }

const struct nsjail_option nsjail_options[] = {
	{ "help", 'h', NULL, "print this", nsjail_do_own, NULL, 'h' },
	{ "mode", 'M', "MODE", "o: once; l: a jail a TCP connection; r: again"
	    " and again; e: as by execve", nsjail_do_mode,
	    "mode", 0 },
	{ "config", 'C', "FILE", "read the configuration; options before it"
	    " are forgotten, later ones win", nsjail_do_config, NULL, 0 },
	{ "exec_file", 'x', "FILE", "execute this instead of the command's"
	    " first word", nsjail_do_exec, NULL, 'x' },
	{ "execute_fd", 0, NULL, "open the program outside, execute it"
	    " inside", nsjail_do_exec, NULL, 'f' },
	{ "chroot", 'c', "DIR", "the root of the jail", nsjail_do_root, NULL,
	    'c' },
	FIELD("no_pivotroot", 0, NULL, "no_pivotroot", "accepted; the jail"
	    " still uses pivot_root"),
	{ "rw", 0, NULL, "the root is writable", nsjail_do_root, NULL, 'w' },
	{ "user", 'u', "IN[:OUT[:N]]", "user inside, outside, how many",
	    nsjail_do_map, NULL, 'u' },
	{ "group", 'g', "IN[:OUT[:N]]", "group inside, outside, how many",
	    nsjail_do_map, NULL, 'g' },
	{ "uid_mapping", 'U', "IN:OUT:N", "the same by newuidmap(1)",
	    nsjail_do_map, NULL, 'U' },
	{ "gid_mapping", 'G', "IN:OUT:N", "the same by newgidmap(1)",
	    nsjail_do_map, NULL, 'G' },
	FIELD("hostname", 'H', "NAME", "hostname", "host name inside"),
	FIELD("cwd", 'D', "DIR", "cwd", "where the command starts"),
	FIELD("port", 'p', "PORT", "port", "TCP port; means -Ml"),
	FIELD("bindhost", 0, "ADDRESS", "bindhost", "to listen at"),
	FIELD("max_conns", 0, "N", "max_conns", "connections at a time"),
	FIELD("max_conns_per_ip", 'i', "N", "max_conns_per_ip",
	    "of one address"),
	{ "log", 'l', "FILE", "append the log to it", nsjail_do_log, NULL,
	    'l' },
	{ "log_fd", 'L', "FD", "log to this descriptor", nsjail_do_log, NULL,
	    'L' },
	{ "time_limit", 't', "SECONDS", "of wall time; 0: none; 0.5 is fine",
	    nsjail_do_time, "time_limit", 0 },
	FIELD("max_cpus", 0, "N", "max_cpus", "how many processors"),
	FIELD("daemon", 'd', NULL, "daemon", "go into the background"),
	{ "verbose", 'v', NULL, "log all", nsjail_do_log, NULL, 'v' },
	{ "quiet", 'q', NULL, "log warnings and worse", nsjail_do_log, NULL,
	    'q' },
	{ "really_quiet", 'Q', NULL, "log what is fatal", nsjail_do_log, NULL,
	    'Q' },
	FIELD("keep_env", 'e', NULL, "keep_env", "pass the environment on"),
	FIELD("env", 'E', "NAME[=VALUE]", "envar", "a variable for the"
	    " command"),
	FIELD("keep_caps", 0, NULL, "keep_caps", "keep all capabilities"),
	{ "cap", 0, "CAP_NAME", "keep this one", nsjail_do_cap, "cap", 0 },
	FIELD("silent", 0, NULL, "silent", "0, 1 and 2 are /dev/null"),
	FIELD("stderr_to_null", 0, NULL, "stderr_to_null",
	    "2 is /dev/null"),
	FIELD("skip_setsid", 0, NULL, "skip_setsid", "stay in the session"),
	{ "pass_fd", 0, "FD", "pass this descriptor on", nsjail_do_own, NULL,
	    'p' },
	FIELD("disable_no_new_privs", 0, NULL, "disable_no_new_privs",
	    "set-user-ID programs may gain privileges"),
	LIMIT("rlimit_as", NSJAIL_AS, "MiB", "address space"),
	LIMIT("rlimit_core", NSJAIL_CORE, "MiB", "core files"),
	LIMIT("rlimit_cpu", NSJAIL_CPU, "seconds", "processor time"),
	LIMIT("rlimit_fsize", NSJAIL_FSIZE, "MiB", "size of a file"),
	LIMIT("rlimit_nofile", NSJAIL_NOFILE, "pieces", "open files"),
	LIMIT("rlimit_nproc", NSJAIL_NPROC, "pieces", "processes"),
	LIMIT("rlimit_stack", NSJAIL_STACK, "MiB", "stack"),
	LIMIT("rlimit_memlock", NSJAIL_MEMLOCK, "KiB", "locked memory"),
	LIMIT("rlimit_rtprio", NSJAIL_RTPRIO, "levels", "real-time priority"),
	LIMIT("rlimit_msgqueue", NSJAIL_MSGQUEUE, "bytes", "message queues"),
	FIELD("disable_rlimits", 0, NULL, "disable_rl", "no limits of these"),
	FIELD("persona_addr_compat_layout", 0, NULL,
	    "persona_addr_compat_layout", "personality(2)"),
	FIELD("persona_mmap_page_zero", 0, NULL, "persona_mmap_page_zero",
	    "personality(2)"),
	FIELD("persona_read_implies_exec", 0, NULL,
	    "persona_read_implies_exec", "personality(2)"),
	FIELD("persona_addr_limit_3gb", 0, NULL, "persona_addr_limit_3gb",
	    "personality(2)"),
	FIELD("persona_addr_no_randomize", 0, NULL,
	    "persona_addr_no_randomize", "personality(2)"),
	UNSET("disable_clone_newnet", 'N', "clone_newnet",
	    "the network is the caller's"),
	UNSET("disable_clone_newuser", 0, "clone_newuser",
	    "no user namespace: for root"),
	UNSET("disable_clone_newns", 0, "clone_newns", "no mount namespace"),
	UNSET("disable_clone_newpid", 0, "clone_newpid", "no pid namespace"),
	UNSET("disable_clone_newipc", 0, "clone_newipc", "no ipc namespace"),
	UNSET("disable_clone_newuts", 0, "clone_newuts", "no uts namespace"),
	UNSET("disable_clone_newcgroup", 0, "clone_newcgroup",
	    "no cgroup namespace"),
	FIELD("enable_clone_newtime", 0, NULL, "clone_newtime",
	    "a time namespace"),
	{ "bindmount_ro", 'R', "SRC[:DST]", "bind, read-only",
	    nsjail_do_mount, NULL, NSJAIL_BIND_RO },
	{ "bindmount", 'B', "SRC[:DST[:OPTIONS]]", "bind, writable",
	    nsjail_do_mount, NULL, NSJAIL_BIND_RW },
	{ "tmpfsmount", 'T', "DST", "an empty tmpfs of 4 MiB",
	    nsjail_do_mount, NULL, NSJAIL_TMPFS },
	{ "mount", 'm', "SRC:DST:TYPE:OPTIONS", "any file system",
	    nsjail_do_mount, NULL, NSJAIL_MOUNT },
	{ "symlink", 's', "TEXT:LINK", "a symbolic link", nsjail_do_mount,
	    NULL, NSJAIL_SYMLINK },
	{ "disable_proc", 0, NULL, "no /proc", nsjail_do_proc, NULL, 'd' },
	{ "proc_path", 0, "DIR", "where /proc is", nsjail_do_proc, NULL,
	    'p' },
	{ "proc_rw", 0, NULL, "/proc is writable", nsjail_do_proc, NULL,
	    'w' },
	FIELD("seccomp_policy", 'P', "FILE", "seccomp_policy_file",
	    "a Kafel policy"),
	FIELD("seccomp_string", 0, "TEXT", "seccomp_string",
	    "a Kafel policy"),
	FIELD("seccomp_log", 0, NULL, "seccomp_log",
	    "the kernel logs what it refuses"),
	FIELD("seccomp_unotify", 0, NULL, "seccomp_unotify", "refused"),
	FIELD("seccomp_unotify_report", 0, "FILE", "seccomp_unotify_report",
	    "refused"),
	FIELD("nice_level", 0, "N", "nice_level", "nice(2)"),
	FIELD("oom_score_adj", 0, "N", "oom_score_adj", "proc(5)"),
	FIELD("use_core_scheduling", 0, NULL, "use_core_scheduling",
	    "processor cores are shared with nobody"),
	FIELD("disable_tsc", 0, NULL, "disable_tsc",
	    "the time stamp counter is a SIGSEGV"),
	FIELD("forward_signals", 0, NULL, "forward_signals",
	    "SIGTERM and SIGINT go to the command"),
	FIELD("cgroup_mem_max", 0, "BYTES", "cgroup_mem_max",
	    "memory of all processes together"),
	FIELD("cgroup_mem_memsw_max", 0, "BYTES", "cgroup_mem_memsw_max",
	    "memory and swap"),
	FIELD("cgroup_mem_swap_max", 0, "BYTES", "cgroup_mem_swap_max",
	    "swap alone; -1: no limit"),
	FIELD("cgroup_mem_mount", 0, "DIR", "cgroup_mem_mount",
	    "of cgroup v1: its mount point"),
	FIELD("cgroup_mem_parent", 0, "NAME", "cgroup_mem_parent",
	    "of cgroup v1: a directory there, which exists"),
	FIELD("cgroup_pids_max", 0, "N", "cgroup_pids_max",
	    "processes and threads"),
	FIELD("cgroup_pids_mount", 0, "DIR", "cgroup_pids_mount",
	    "of cgroup v1: its mount point"),
	FIELD("cgroup_pids_parent", 0, "NAME", "cgroup_pids_parent",
	    "of cgroup v1: a directory there, which exists"),
	FIELD("cgroup_net_cls_classid", 0, "N", "cgroup_net_cls_classid",
	    "the class of its packets; cgroup v1 only"),
	FIELD("cgroup_net_cls_mount", 0, "DIR", "cgroup_net_cls_mount",
	    "of cgroup v1: its mount point"),
	FIELD("cgroup_net_cls_parent", 0, "NAME", "cgroup_net_cls_parent",
	    "of cgroup v1: a directory there, which exists"),
	FIELD("cgroup_cpu_ms_per_sec", 0, "N", "cgroup_cpu_ms_per_sec",
	    "processor time a second, in milliseconds"),
	FIELD("cgroup_cpu_mount", 0, "DIR", "cgroup_cpu_mount",
	    "of cgroup v1: its mount point"),
	FIELD("cgroup_cpu_parent", 0, "NAME", "cgroup_cpu_parent",
	    "of cgroup v1: a directory there, which exists"),
	FIELD("cgroupv2_mount", 0, "DIR", "cgroupv2_mount",
	    "where cgroups are made; without it, below what is delegated"),
	FIELD("use_cgroupv2", 0, NULL, "use_cgroupv2",
	    "limits are those of cgroup v2"),
	FIELD("detect_cgroupv2", 0, NULL, "detect_cgroupv2",
	    "likewise, if cgroupv2_mount is one of those"),
	FIELD("iface_no_lo", 0, NULL, "iface_no_lo", "lo stays down"),
	FIELD("iface_own", 0, "NAME", "iface_own",
	    "move this interface into the jail"),
	FIELD("macvlan_iface", 'I', "NAME", "macvlan_iface",
	    "make a macvlan \"vs\" of it in the jail"),
	FIELD("macvlan_vs_ip", 0, "ADDRESS", "macvlan_vs_ip", "its address"),
	FIELD("macvlan_vs_nm", 0, "MASK", "macvlan_vs_nm", "its netmask"),
	FIELD("macvlan_vs_gw", 0, "ADDRESS", "macvlan_vs_gw", "its gateway"),
	FIELD("macvlan_vs_ma", 0, "ADDRESS", "macvlan_vs_ma", "its MAC"),
	FIELD("macvlan_vs_mo", 0, "MODE", "macvlan_vs_mo",
	    "its mode: private, vepa, bridge, passthru"),
	{ "user_net", 0, NULL, "a network through pasta(1), which takes no"
	    " privileges", nsjail_do_user_net, "user_net", 0 },
	{ "experimental_mnt", 0, "old|new|auto", "accepted: there is one way"
	    " here", nsjail_do_own, NULL, 'e' },
	{ "init", 0, NULL, "the command is not pid 1 but its child",
	    nsjail_do_own, NULL, 'i' },
	{ "status_fd", 0, "FD", "one JSON record a line: nsrun-status(5)",
	    nsjail_do_own, NULL, 's' },
	{ .name = NULL }
};

/* nsjail's shape: callers look at the first line. */
void
nsjail_usage(FILE *out, const char *name)
{
	fprintf(out, " Usage: %s [options] -- path_to_command [args]\n"
	    " Options:\n", name);
	for (const struct nsjail_option *o = nsjail_options; o->name; o++) {
		fprintf(out, " --%s", o->name);
		if (o->letter)
			fprintf(out, "|-%c", o->letter);
		if (o->arg)
			fprintf(out, " %s", o->arg);
		fprintf(out, "\n\t%s\n", o->help);
	}
	fputs("\n Examples:\n"
	    " Once, with the host's tree read-only:\n"
	    "  oc-nsjail -Mo --chroot / -- /bin/echo hello\n"
	    " From a configuration:\n"
	    "  oc-nsjail --config FILE -- /bin/echo hello\n", out);
}
