/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The fields of nsjail's configuration. */
#include <ctype.h>
#include <string.h>

#include "settings.h"

#define AT(member) .offset = offsetof(struct MESSAGE, member)
#define HAS(member) .has_offset = offsetof(struct MESSAGE, member)
#define END { .name = NULL }

static const struct nsjail_enum modes[] = {
	{ "LISTEN", NSJAIL_LISTEN }, { "ONCE", NSJAIL_ONCE },
	{ "RERUN", NSJAIL_RERUN }, { "EXECVE", NSJAIL_EXECVE }, END
};
static const struct nsjail_enum levels[] = {
	{ "DEBUG", NSJAIL_DEBUG }, { "INFO", NSJAIL_INFO },
	{ "WARNING", NSJAIL_WARNING }, { "ERROR", NSJAIL_ERROR },
	{ "FATAL", NSJAIL_FATAL }, END
};
static const struct nsjail_enum limit_types[] = {
	{ "VALUE", NSJAIL_VALUE }, { "SOFT", NSJAIL_SOFT },
	{ "HARD", NSJAIL_HARD }, { "INF", NSJAIL_INF }, END
};
static const struct nsjail_enum backends[] = {
	{ "NSTUN", NSJAIL_NSTUN }, { "PASTA", NSJAIL_PASTA }, END
};
static const struct nsjail_enum net_actions[] = {
	{ "DROP", NSJAIL_NET_DROP }, { "REJECT", NSJAIL_NET_REJECT },
	{ "ALLOW", NSJAIL_NET_ALLOW }, { "REDIRECT", NSJAIL_NET_REDIRECT },
	{ "ENCAP_SOCKS5", NSJAIL_NET_SOCKS5 },
	{ "ENCAP_CONNECT", NSJAIL_NET_CONNECT }, END
};
static const struct nsjail_enum net_protocols[] = {
	{ "ANY", NSJAIL_ANY }, { "TCP", NSJAIL_TCP }, { "UDP", NSJAIL_UDP },
	{ "ICMP", NSJAIL_ICMP }, END
};
static const struct nsjail_enum directions[] = {
	{ "GUEST_TO_HOST", NSJAIL_GUEST_TO_HOST },
	{ "HOST_TO_GUEST", NSJAIL_HOST_TO_GUEST }, END
};
static const struct nsjail_enum rule_actions[] = {
	{ "UNKNOWN_ACTION", 0 }, { "DROP", NSJAIL_RULE_DROP },
	{ "REJECT", NSJAIL_RULE_REJECT }, { "ALLOW", NSJAIL_RULE_ALLOW }, END
};
static const struct nsjail_enum rule_protocols[] = {
	{ "UNKNOWN_PROTO", NSJAIL_ANY }, { "TCP", NSJAIL_TCP },
	{ "UDP", NSJAIL_UDP }, { "ICMP", NSJAIL_ICMP },
	{ "ICMPV6", NSJAIL_ICMPV6 }, END
};
static const struct nsjail_enum families[] = {
	{ "IPV4", 0 }, { "IPV6", 1 }, END
};

#define MESSAGE nsjail_idmap
static const struct nsjail_field idmap[] = {
	{ "inside_id", NSJAIL_STRING, AT(inside), .text = "" },
	{ "outside_id", NSJAIL_STRING, AT(outside), .text = "" },
	{ "count", NSJAIL_U32, AT(count), .number = 1 },
	{ "use_newidmap", NSJAIL_BOOL, AT(newidmap) },
	END
};
#undef MESSAGE
const struct nsjail_message nsjail_idmap_message = {
	"IdMap", idmap, sizeof(struct nsjail_idmap),
};

#define MESSAGE nsjail_mount
static const struct nsjail_field mount[] = {
	{ "src", NSJAIL_STRING, AT(src), .text = "" },
	{ "prefix_src_env", NSJAIL_STRING, AT(prefix_src_env), .text = "" },
	{ "src_content", NSJAIL_BYTES, AT(content) },
	{ "dst", NSJAIL_STRING, NSJAIL_REQUIRED, AT(dst), .text = "" },
	{ "prefix_dst_env", NSJAIL_STRING, AT(prefix_dst_env), .text = "" },
	{ "fstype", NSJAIL_STRING, AT(fstype), .text = "" },
	{ "options", NSJAIL_STRING, AT(options), .text = "" },
	{ "is_bind", NSJAIL_BOOL, AT(is_bind) },
	{ "rw", NSJAIL_BOOL, AT(rw) },
	{ "is_dir", NSJAIL_BOOL, AT(is_dir), HAS(has_is_dir) },
	{ "mandatory", NSJAIL_BOOL, AT(mandatory), .number = true },
	{ "is_symlink", NSJAIL_BOOL, AT(is_symlink) },
	{ "nosuid", NSJAIL_BOOL, AT(nosuid) },
	{ "nodev", NSJAIL_BOOL, AT(nodev) },
	{ "noexec", NSJAIL_BOOL, AT(noexec) },
	END
};
#undef MESSAGE
const struct nsjail_message nsjail_mount_message = {
	"MountPt", mount, sizeof(struct nsjail_mount),
};

#define MESSAGE nsjail_exe
static const struct nsjail_field exe[] = {
	{ "path", NSJAIL_STRING, NSJAIL_REQUIRED, AT(path), .text = "" },
	{ "arg", NSJAIL_STRING, NSJAIL_REPEATED, AT(args) },
	{ "arg0", NSJAIL_STRING, AT(arg0) },
	{ "exec_fd", NSJAIL_BOOL, AT(exec_fd) },
	END
};
#undef MESSAGE
static const struct nsjail_message exe_message = {
	"Exe", exe, sizeof(struct nsjail_exe),
};

/* What is read and not kept. */
#define GONE_S(name) { name, NSJAIL_STRING, .flags = NSJAIL_NOWHERE }
#define GONE_R(name) { name, NSJAIL_STRING, \
	.flags = NSJAIL_NOWHERE | NSJAIL_REPEATED }
#define TEXT(name, member, value) \
	{ name, NSJAIL_STRING, AT(member), .text = value }
#define FLAG(name, member, value) \
	{ name, NSJAIL_BOOL, AT(member), .number = value }
#define PORT(name, member) { name, NSJAIL_U32, AT(member) }

#define MESSAGE nsjail_net_rule
static const struct nsjail_field net_rule[] = {
	{ "direction", NSJAIL_ENUM, AT(direction), .names = directions },
	{ "action", NSJAIL_ENUM, AT(action), .names = net_actions,
	    .number = NSJAIL_NET_ALLOW },
	{ "proto", NSJAIL_ENUM, AT(proto), .names = net_protocols },
	TEXT("src_ip", src_ip, ""), TEXT("dst_ip", dst_ip, ""),
	PORT("sport", sport), PORT("sport_end", sport_end),
	PORT("dport", dport), PORT("dport_end", dport_end),
	TEXT("redirect_ip", redirect_ip, ""),
	PORT("redirect_port", redirect_port), END
};
#undef MESSAGE
static const struct nsjail_message net_rule_message = {
	"NstunRule", net_rule, sizeof(struct nsjail_net_rule),
};

#define MESSAGE nsjail_pasta
static const struct nsjail_field pasta[] = {
	FLAG("nat", nat, true), FLAG("enable_tcp", tcp, true),
	FLAG("enable_udp", udp, true), FLAG("enable_icmp", icmp, true),
	FLAG("ip4_enabled", ip4, true), FLAG("ip6_enabled", ip6, true),
	TEXT("mask4", mask4, "255.255.255.0"), TEXT("mask6", mask6, "64"),
	FLAG("enable_ip4_dhcp", dhcp, false),
	FLAG("enable_ip6_dhcp", dhcpv6, false),
	FLAG("enable_ip6_ra", ra, false), FLAG("enable_dns", dns, false),
	TEXT("dns_forward", dns_forward, ""), FLAG("map_gw", map_gw, true),
	TEXT("tcp_map_in", tcp_in, "none"), TEXT("udp_map_in", udp_in, "none"),
	TEXT("tcp_map_out", tcp_out, "none"),
	TEXT("udp_map_out", udp_out, "none"), END
};
#undef MESSAGE
const struct nsjail_message nsjail_pasta_message = {
	"Pasta", pasta, sizeof(struct nsjail_pasta),
};

#define MESSAGE nsjail_user_net
static const struct nsjail_field user_net[] = {
	{ "backend", NSJAIL_ENUM, AT(backend), .names = backends },
	TEXT("ip4", ip4, "10.255.255.2"), TEXT("gw4", gw4, "10.255.255.1"),
	TEXT("ip6", ip6, "fc00::2"), TEXT("gw6", gw6, "fc00::1"),
	TEXT("ns_iface", iface, "eth0"),
	{ "rule4", NSJAIL_MESSAGE, NSJAIL_REPEATED, AT(rule4),
	    .message = &net_rule_message },
	{ "rule6", NSJAIL_MESSAGE, NSJAIL_REPEATED, AT(rule6),
	    .message = &net_rule_message },
	{ "pasta", NSJAIL_MESSAGE, AT(pasta),
	    .message = &nsjail_pasta_message }, END
};
#undef MESSAGE
const struct nsjail_message nsjail_user_net_message = {
	"UserNet", user_net, sizeof(struct nsjail_user_net),
};

#define MESSAGE nsjail_route_rule
static const struct nsjail_field route_rule[] = {
	TEXT("src_ip", src, ""), TEXT("dst_ip", dst, ""),
	TEXT("iif", iif, ""), TEXT("oif", oif, ""),
	{ "proto", NSJAIL_ENUM, AT(proto), .names = rule_protocols },
	PORT("sport", sport), PORT("sport_end", sport_end),
	PORT("dport", dport), PORT("dport_end", dport_end),
	{ "action", NSJAIL_ENUM, AT(action), .names = rule_actions,
	    .number = NSJAIL_RULE_DROP },
	{ "ip_family", NSJAIL_ENUM, AT(family), .names = families }, END
};
#undef MESSAGE
static const struct nsjail_message route_rule_message = {
	"TrafficRule", route_rule, sizeof(struct nsjail_route_rule),
};

#define MESSAGE nsjail_config
#define LIMIT(name, kind, value, type) \
	{ name, NSJAIL_U64, AT(limits[kind]), .number = value }, \
	{ name "_type", NSJAIL_ENUM, AT(limit_types[kind]), \
	    .names = limit_types, .number = type }

static const struct nsjail_field config[] = {
	GONE_S("name"), GONE_R("description"),
	{ "mode", NSJAIL_ENUM, AT(mode), .names = modes,
	    .number = NSJAIL_ONCE },
	{ "hostname", NSJAIL_STRING, AT(hostname), .text = "NSJAIL" },
	{ "cwd", NSJAIL_STRING, AT(cwd), .text = "/" },
	{ "no_pivotroot", NSJAIL_BOOL, AT(no_pivotroot) },
	{ "port", NSJAIL_U32, AT(port) },
	{ "bindhost", NSJAIL_STRING, AT(bindhost), .text = "::" },
	{ "max_conns", NSJAIL_U32, AT(max_conns) },
	{ "max_conns_per_ip", NSJAIL_U32, AT(max_conns_per_ip) },
	{ "time_limit", NSJAIL_U32, AT(time_limit), .number = 600 },
	{ "daemon", NSJAIL_BOOL, AT(daemon) },
	{ "max_cpus", NSJAIL_U32, AT(max_cpus) },
	{ "nice_level", NSJAIL_I32, AT(nice_level), .number = 19 },
	{ "log_fd", NSJAIL_I32, AT(log_fd), .number = 2 },
	{ "log_file", NSJAIL_STRING, AT(log_file) },
	{ "log_level", NSJAIL_ENUM, AT(log_level), .names = levels,
	    .number = NSJAIL_INFO },
	{ "keep_env", NSJAIL_BOOL, AT(keep_env) },
	{ "envar", NSJAIL_STRING, NSJAIL_REPEATED, AT(envar) },
	{ "keep_caps", NSJAIL_BOOL, AT(keep_caps) },
	{ "cap", NSJAIL_STRING, NSJAIL_REPEATED, AT(cap) },
	{ "silent", NSJAIL_BOOL, AT(silent) },
	{ "stderr_to_null", NSJAIL_BOOL, AT(stderr_to_null) },
	{ "skip_setsid", NSJAIL_BOOL, AT(skip_setsid) },
	{ "pass_fd", NSJAIL_I32, NSJAIL_REPEATED, AT(pass_fd) },
	{ "disable_no_new_privs", NSJAIL_BOOL, AT(disable_no_new_privs) },
	{ "forward_signals", NSJAIL_BOOL, AT(forward_signals) },
	{ "disable_tsc", NSJAIL_BOOL, AT(disable_tsc) },
	{ "oom_score_adj", NSJAIL_I32, AT(oom_score_adj),
	    HAS(has_oom_score_adj) },
	{ "use_core_scheduling", NSJAIL_BOOL, AT(use_core_scheduling) },
	LIMIT("rlimit_as", NSJAIL_AS, 4096, NSJAIL_VALUE),
	LIMIT("rlimit_core", NSJAIL_CORE, 0, NSJAIL_VALUE),
	LIMIT("rlimit_cpu", NSJAIL_CPU, 600, NSJAIL_VALUE),
	LIMIT("rlimit_fsize", NSJAIL_FSIZE, 1, NSJAIL_VALUE),
	LIMIT("rlimit_nofile", NSJAIL_NOFILE, 32, NSJAIL_VALUE),
	LIMIT("rlimit_nproc", NSJAIL_NPROC, 1024, NSJAIL_SOFT),
	LIMIT("rlimit_stack", NSJAIL_STACK, 8, NSJAIL_SOFT),
	LIMIT("rlimit_memlock", NSJAIL_MEMLOCK, 64, NSJAIL_SOFT),
	LIMIT("rlimit_rtprio", NSJAIL_RTPRIO, 0, NSJAIL_SOFT),
	LIMIT("rlimit_msgqueue", NSJAIL_MSGQUEUE, 1024, NSJAIL_SOFT),
	{ "disable_rl", NSJAIL_BOOL, AT(disable_rl) },
	{ "persona_addr_compat_layout", NSJAIL_BOOL,
	    AT(persona_compat_layout) },
	{ "persona_mmap_page_zero", NSJAIL_BOOL, AT(persona_mmap_page_zero) },
	{ "persona_read_implies_exec", NSJAIL_BOOL,
	    AT(persona_read_implies_exec) },
	{ "persona_addr_limit_3gb", NSJAIL_BOOL, AT(persona_limit_3gb) },
	{ "persona_addr_no_randomize", NSJAIL_BOOL, AT(persona_no_randomize) },
	{ "clone_newnet", NSJAIL_BOOL, AT(newnet), .number = true },
	{ "clone_newuser", NSJAIL_BOOL, AT(newuser), .number = true },
	{ "clone_newns", NSJAIL_BOOL, AT(newns), .number = true },
	{ "clone_newpid", NSJAIL_BOOL, AT(newpid), .number = true },
	{ "clone_newipc", NSJAIL_BOOL, AT(newipc), .number = true },
	{ "clone_newuts", NSJAIL_BOOL, AT(newuts), .number = true },
	{ "clone_newcgroup", NSJAIL_BOOL, AT(newcgroup), .number = true },
	{ "clone_newtime", NSJAIL_BOOL, AT(newtime) },
	{ "uidmap", NSJAIL_MESSAGE, NSJAIL_REPEATED, AT(uidmap),
	    .message = &nsjail_idmap_message },
	{ "gidmap", NSJAIL_MESSAGE, NSJAIL_REPEATED, AT(gidmap),
	    .message = &nsjail_idmap_message },
	{ "mount_proc", NSJAIL_BOOL, AT(mount_proc) },
	{ "mount", NSJAIL_MESSAGE, NSJAIL_REPEATED, AT(mounts),
	    .message = &nsjail_mount_message },
	{ "seccomp_policy_file", NSJAIL_STRING, AT(seccomp_file) },
	{ "seccomp_string", NSJAIL_STRING, NSJAIL_REPEATED,
	    AT(seccomp_string) },
	{ "seccomp_log", NSJAIL_BOOL, AT(seccomp_log) },
	{ "seccomp_unotify", NSJAIL_BOOL, AT(seccomp_unotify) },
	GONE_S("seccomp_unotify_report"),
	{ "cgroup_mem_max", NSJAIL_U64, AT(cgroup_mem_max) },
	{ "cgroup_mem_memsw_max", NSJAIL_U64, AT(cgroup_memsw_max) },
	{ "cgroup_mem_swap_max", NSJAIL_I64, AT(cgroup_swap_max),
	    .number = -1 },
	TEXT("cgroup_mem_mount", cgroup_mem_mount,
	    "/sys/fs/cgroup/memory"),
	TEXT("cgroup_mem_parent", cgroup_mem_parent, "NSJAIL"),
	{ "cgroup_pids_max", NSJAIL_U64, AT(cgroup_pids_max) },
	TEXT("cgroup_pids_mount", cgroup_pids_mount,
	    "/sys/fs/cgroup/pids"),
	TEXT("cgroup_pids_parent", cgroup_pids_parent, "NSJAIL"),
	{ "cgroup_net_cls_classid", NSJAIL_U32, AT(cgroup_classid) },
	TEXT("cgroup_net_cls_mount", cgroup_net_cls_mount,
	    "/sys/fs/cgroup/net_cls"),
	TEXT("cgroup_net_cls_parent", cgroup_net_cls_parent, "NSJAIL"),
	{ "cgroup_cpu_ms_per_sec", NSJAIL_U32, AT(cgroup_cpu_ms) },
	TEXT("cgroup_cpu_mount", cgroup_cpu_mount,
	    "/sys/fs/cgroup/cpu"),
	TEXT("cgroup_cpu_parent", cgroup_cpu_parent, "NSJAIL"),
	TEXT("cgroupv2_mount", cgroupv2_mount, "/sys/fs/cgroup"),
	{ "use_cgroupv2", NSJAIL_BOOL, AT(use_cgroupv2) },
	{ "detect_cgroupv2", NSJAIL_BOOL, AT(detect_cgroupv2) },
	{ "iface_no_lo", NSJAIL_BOOL, AT(iface_no_lo) },
	{ "iface_own", NSJAIL_STRING, NSJAIL_REPEATED, AT(iface_own) },
	TEXT("macvlan_iface", macvlan_iface, ""),
	TEXT("macvlan_vs_ip", vs_ip, "192.168.0.2"),
	TEXT("macvlan_vs_nm", vs_nm, "255.255.255.0"),
	TEXT("macvlan_vs_gw", vs_gw, "192.168.0.1"),
	TEXT("macvlan_vs_ma", vs_ma, ""),
	TEXT("macvlan_vs_mo", vs_mo, "private"),
	{ "traffic_rule", NSJAIL_MESSAGE, NSJAIL_REPEATED, AT(traffic_rules),
	    .message = &route_rule_message },
	{ "user_net", NSJAIL_MESSAGE, AT(user_net),
	    .message = &nsjail_user_net_message },
	{ "exec_bin", NSJAIL_MESSAGE, AT(exec_bin), .message = &exe_message },
	END
};
_Static_assert(sizeof config / sizeof *config <=
    64 * sizeof(struct nsjail_given) / sizeof(uint64_t), "a bit each");
#undef MESSAGE
const struct nsjail_message nsjail_config_message = {
	"NsJailConfig", config, sizeof(struct nsjail_config),
};

static void
set_default(const struct nsjail_field *f, void *at)
{
	switch (f->type) {
	case NSJAIL_BOOL:
		*(bool *)at = f->number;
		break;
	case NSJAIL_U32:
	case NSJAIL_I32:
		*(int32_t *)at = (int32_t)f->number;
		break;
	case NSJAIL_U64:
	case NSJAIL_I64:
		*(int64_t *)at = f->number;
		break;
	case NSJAIL_ENUM:
		*(int *)at = (int)f->number;
		break;
	case NSJAIL_STRING:
		*(const char **)at = f->text;
		break;
	case NSJAIL_BYTES:
	case NSJAIL_MESSAGE:
		break;
	}
}

void
nsjail_message_init(const struct nsjail_message *message, void *at)
{
	memset(at, 0, message->size);
	for (const struct nsjail_field *f = message->fields; f->name; f++)
		if (!(f->flags & (NSJAIL_NOWHERE | NSJAIL_REPEATED)))
			set_default(f, (char *)at + f->offset);
}

/* "mountProc" is mount_proc. */
static bool
is_camel(const char *name, const char *camel)
{
	for (; *name; name++, camel++) {
		if (*name == '_' && name[1]) {
			name++;
			if (toupper((unsigned char)*name) != *camel)
				return false;
		} else if (*name != *camel) {
			return false;
		}
	}
	return !*camel;
}

const struct nsjail_field *
nsjail_field_find(const struct nsjail_message *message, const char *name,
    bool camel)
{
	for (const struct nsjail_field *f = message->fields; f->name; f++)
		if (!strcmp(f->name, name) || (camel &&
		    is_camel(f->name, name)))
			return f;
	return NULL;
}

bool
nsjail_field_given(const struct nsjail_message *message, const void *at,
    const char *name)
{
	const struct nsjail_field *f = nsjail_field_find(message, name, false);
	const struct nsjail_given *given = at;
	size_t i = f ? (size_t)(f - message->fields) : 0;

	return f && given->bits[i / 64] >> i % 64 & 1;
}
