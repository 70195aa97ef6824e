/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What can be said in nsjail's configuration, as data: the settings, and the
 * one table of fields (fields.c) by which the text form, the JSON form and the
 * command line all set them.
 *
 * Everything lives in the arena of whoever reads it, or for ever.
 */
#ifndef NSJAIL_SETTINGS_H
#define NSJAIL_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* Of a repeated field: an array of the field's type, or of its message. */
struct nsjail_list {
	void	*v;
	size_t	n;
};

struct nsjail_bytes {
	const char *v;
	size_t	n;
};

/* Which fields were given, one bit each, in the order of the table. */
struct nsjail_given {
	uint64_t bits[3];
};

struct nsjail_idmap {
	struct nsjail_given given;
	const char	*inside, *outside;	/* "": the caller's own */
	uint32_t	count;
	bool		newidmap;
};

struct nsjail_mount {
	struct nsjail_given given;
	const char	*src, *prefix_src_env;
	struct nsjail_bytes content;
	const char	*dst, *prefix_dst_env;
	const char	*fstype, *options;
	bool		is_bind, rw, is_dir, has_is_dir, mandatory, is_symlink;
	bool		nosuid, nodev, noexec;
};

struct nsjail_exe {
	struct nsjail_given given;
	const char	*path, *arg0;
	struct nsjail_list args;		/* const char * */
	bool		exec_fd;
};

/* Of user_net: what nsjail's own stack is told, and what pasta(1) can do. */
struct nsjail_net_rule {
	struct nsjail_given given;
	int		direction, action, proto;
	const char	*src_ip, *dst_ip, *redirect_ip;
	uint32_t	sport, sport_end, dport, dport_end, redirect_port;
};
enum { NSJAIL_GUEST_TO_HOST, NSJAIL_HOST_TO_GUEST };
enum nsjail_net_action {
	NSJAIL_NET_DROP, NSJAIL_NET_REJECT, NSJAIL_NET_ALLOW,
	NSJAIL_NET_REDIRECT, NSJAIL_NET_SOCKS5, NSJAIL_NET_CONNECT,
};
enum nsjail_proto {
	NSJAIL_ANY, NSJAIL_TCP, NSJAIL_UDP, NSJAIL_ICMP, NSJAIL_ICMPV6,
};

struct nsjail_pasta {
	struct nsjail_given given;
	bool		nat, tcp, udp, icmp, ip4, ip6;
	bool		dhcp, dhcpv6, ra, dns, map_gw;
	const char	*mask4, *mask6, *dns_forward;
	const char	*tcp_in, *udp_in, *tcp_out, *udp_out;
};

struct nsjail_user_net {
	struct nsjail_given given;
	int		backend;
	const char	*ip4, *gw4, *ip6, *gw6, *iface;
	struct nsjail_list rule4, rule6;	/* struct nsjail_net_rule */
	struct nsjail_pasta *pasta;		/* NULL: none */
};
enum { NSJAIL_NSTUN, NSJAIL_PASTA };

/* A rule of the kernel's routing policy. */
struct nsjail_route_rule {
	struct nsjail_given given;
	const char	*src, *dst, *iif, *oif;
	int		proto, action, family;
	uint32_t	sport, sport_end, dport, dport_end;
};
enum { NSJAIL_RULE_DROP = 1, NSJAIL_RULE_REJECT, NSJAIL_RULE_ALLOW };

enum nsjail_mode { NSJAIL_LISTEN, NSJAIL_ONCE, NSJAIL_RERUN, NSJAIL_EXECVE };
enum nsjail_level {
	NSJAIL_DEBUG, NSJAIL_INFO, NSJAIL_WARNING, NSJAIL_ERROR, NSJAIL_FATAL,
};
enum nsjail_limit_type {
	NSJAIL_VALUE, NSJAIL_SOFT, NSJAIL_HARD, NSJAIL_INF,
};
enum nsjail_limit_kind {
	NSJAIL_AS, NSJAIL_CORE, NSJAIL_CPU, NSJAIL_FSIZE, NSJAIL_NOFILE,
	NSJAIL_NPROC, NSJAIL_STACK, NSJAIL_MEMLOCK, NSJAIL_RTPRIO,
	NSJAIL_MSGQUEUE, NSJAIL_N_LIMITS
};

struct nsjail_config {
	struct nsjail_given given;
	int		mode;
	struct nsjail_exe *exec_bin;		/* NULL: none */
	const char	*hostname, *cwd;
	bool		no_pivotroot, daemon;
	uint32_t	port, max_conns, max_conns_per_ip;
	const char	*bindhost;
	uint32_t	time_limit;		/* seconds */
	uint32_t	time_limit_ms;		/* of a second, from -t alone */
	uint32_t	max_cpus;
	int32_t		nice_level, oom_score_adj;
	bool		has_oom_score_adj;
	bool		use_core_scheduling, disable_tsc, forward_signals;
	int32_t		log_fd;
	const char	*log_file;
	int		log_level;
	bool		keep_env, keep_caps, silent, stderr_to_null;
	bool		skip_setsid, disable_no_new_privs;
	struct nsjail_list envar, cap;		/* const char * */
	struct nsjail_list pass_fd;		/* int32_t */
	uint64_t	limits[NSJAIL_N_LIMITS];
	int		limit_types[NSJAIL_N_LIMITS];
	bool		disable_rl;
	bool		persona_compat_layout, persona_mmap_page_zero;
	bool		persona_read_implies_exec, persona_limit_3gb;
	bool		persona_no_randomize;
	bool		newnet, newuser, newns, newpid, newipc, newuts;
	bool		newcgroup, newtime;
	struct nsjail_list uidmap, gidmap;	/* struct nsjail_idmap */
	bool		mount_proc;
	struct nsjail_list mounts;		/* struct nsjail_mount */
	const char	*seccomp_file;
	struct nsjail_list seccomp_string;	/* const char * */
	bool		seccomp_log;
	bool		iface_no_lo;
	uint64_t	cgroup_mem_max, cgroup_memsw_max, cgroup_pids_max;
	int64_t		cgroup_swap_max;	/* bytes; -1: none */
	uint32_t	cgroup_cpu_ms, cgroup_classid;
	const char	*cgroup_mem_mount, *cgroup_mem_parent;
	const char	*cgroup_pids_mount, *cgroup_pids_parent;
	const char	*cgroup_net_cls_mount, *cgroup_net_cls_parent;
	const char	*cgroup_cpu_mount, *cgroup_cpu_parent;
	const char	*cgroupv2_mount;
	bool		use_cgroupv2, detect_cgroupv2, seccomp_unotify;
	struct nsjail_list iface_own;		/* const char * */
	const char	*macvlan_iface, *vs_ip, *vs_nm, *vs_gw, *vs_ma, *vs_mo;
	struct nsjail_list traffic_rules;	/* struct nsjail_route_rule */
	struct nsjail_user_net *user_net;	/* NULL: none */
};

enum nsjail_type {
	NSJAIL_BOOL, NSJAIL_U32, NSJAIL_U64, NSJAIL_I32, NSJAIL_I64,
	NSJAIL_ENUM, NSJAIL_STRING, NSJAIL_BYTES, NSJAIL_MESSAGE,
};

struct nsjail_enum {
	const char	*name;			/* NULL at the end */
	int		value;
};

struct nsjail_field {
	const char	*name;
	enum nsjail_type type;
	enum {
		NSJAIL_REPEATED	= 1 << 0,
		NSJAIL_REQUIRED	= 1 << 1,
		NSJAIL_NOWHERE	= 1 << 2,	/* read, checked, not kept */
	}		flags;
	size_t		offset;			/* in its message's struct */
	size_t		has_offset;		/* of a bool; 0: none */
	int64_t		number;			/* default, but a string's */
	const char	*text;			/* a string's */
	const struct nsjail_enum *names;	/* ENUM */
	const struct nsjail_message *message;	/* MESSAGE */
};

struct nsjail_message {
	const char	*name;
	const struct nsjail_field *fields;	/* name NULL at the end */
	size_t		size;			/* of its struct */
};

extern const struct nsjail_message nsjail_config_message;
extern const struct nsjail_message nsjail_mount_message;
extern const struct nsjail_message nsjail_idmap_message;
extern const struct nsjail_message nsjail_user_net_message;
extern const struct nsjail_message nsjail_pasta_message;

/* A message of the table with every default in it. */
void nsjail_message_init(const struct nsjail_message *message, void *at);
/* NULL: there is none. JSON also says mountProc for mount_proc. */
const struct nsjail_field *nsjail_field_find(
    const struct nsjail_message *message, const char *name, bool camel);
/* Was a field of this name given? */
bool nsjail_field_given(const struct nsjail_message *message, const void *at,
    const char *name);

#endif
