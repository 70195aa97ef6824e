# SPDX-License-Identifier: LGPL-2.1-or-later
# bash completion for oc-nsjail(1).

# The options and the kinds of their operands. tests/nsjail/options.sh compares.
declare -gA _oc_nsjail_options=(
	[--bindhost]=text
	[--bindmount]=bind
	[--bindmount_ro]=bind
	[--cap]=capability
	[--cgroup_cpu_mount]=directory
	[--cgroup_cpu_ms_per_sec]=text
	[--cgroup_cpu_parent]=text
	[--cgroup_mem_max]=text
	[--cgroup_mem_memsw_max]=text
	[--cgroup_mem_mount]=directory
	[--cgroup_mem_parent]=text
	[--cgroup_mem_swap_max]=text
	[--cgroup_net_cls_classid]=text
	[--cgroup_net_cls_mount]=directory
	[--cgroup_net_cls_parent]=text
	[--cgroup_pids_max]=text
	[--cgroup_pids_mount]=directory
	[--cgroup_pids_parent]=text
	[--cgroupv2_mount]=directory
	[--chroot]=directory
	[--config]=file
	[--cwd]=directory
	[--daemon]=''
	[--detect_cgroupv2]=''
	[--disable_clone_newcgroup]=''
	[--disable_clone_newipc]=''
	[--disable_clone_newnet]=''
	[--disable_clone_newns]=''
	[--disable_clone_newpid]=''
	[--disable_clone_newuser]=''
	[--disable_clone_newuts]=''
	[--disable_no_new_privs]=''
	[--disable_proc]=''
	[--disable_rlimits]=''
	[--disable_tsc]=''
	[--enable_clone_newtime]=''
	[--env]=variable
	[--exec_file]=file
	[--execute_fd]=''
	[--experimental_mnt]=api
	[--forward_signals]=''
	[--gid_mapping]=text
	[--group]=group
	[--help]=''
	[--hostname]=text
	[--iface_no_lo]=''
	[--iface_own]=interface
	[--init]=''
	[--keep_caps]=''
	[--keep_env]=''
	[--log]=file
	[--log_fd]=text
	[--macvlan_iface]=interface
	[--macvlan_vs_gw]=text
	[--macvlan_vs_ip]=text
	[--macvlan_vs_ma]=text
	[--macvlan_vs_mo]=macvlan
	[--macvlan_vs_nm]=text
	[--max_conns]=text
	[--max_conns_per_ip]=text
	[--max_cpus]=text
	[--mode]=mode
	[--mount]=text
	[--nice_level]=text
	[--no_pivotroot]=''
	[--oom_score_adj]=text
	[--pass_fd]=text
	[--persona_addr_compat_layout]=''
	[--persona_addr_limit_3gb]=''
	[--persona_addr_no_randomize]=''
	[--persona_mmap_page_zero]=''
	[--persona_read_implies_exec]=''
	[--port]=text
	[--proc_path]=directory
	[--proc_rw]=''
	[--quiet]=''
	[--really_quiet]=''
	[--rlimit_as]=limit
	[--rlimit_core]=limit
	[--rlimit_cpu]=limit
	[--rlimit_fsize]=limit
	[--rlimit_memlock]=limit
	[--rlimit_msgqueue]=limit
	[--rlimit_nofile]=limit
	[--rlimit_nproc]=limit
	[--rlimit_rtprio]=limit
	[--rlimit_stack]=limit
	[--rw]=''
	[--seccomp_log]=''
	[--seccomp_policy]=file
	[--seccomp_string]=text
	[--seccomp_unotify]=''
	[--seccomp_unotify_report]=file
	[--silent]=''
	[--skip_setsid]=''
	[--status_fd]=text
	[--stderr_to_null]=''
	[--symlink]=bind
	[--time_limit]=text
	[--tmpfsmount]=directory
	[--uid_mapping]=text
	[--use_cgroupv2]=''
	[--use_core_scheduling]=''
	[--user]=user
	[--user_net]=''
	[--verbose]=''
)
# The letters that some have.
declare -gA _oc_nsjail_letters=(
	[B]=--bindmount
	[C]=--config
	[c]=--chroot
	[D]=--cwd
	[d]=--daemon
	[E]=--env
	[e]=--keep_env
	[G]=--gid_mapping
	[g]=--group
	[H]=--hostname
	[h]=--help
	[I]=--macvlan_iface
	[i]=--max_conns_per_ip
	[L]=--log_fd
	[l]=--log
	[M]=--mode
	[m]=--mount
	[N]=--disable_clone_newnet
	[P]=--seccomp_policy
	[p]=--port
	[Q]=--really_quiet
	[q]=--quiet
	[R]=--bindmount_ro
	[s]=--symlink
	[T]=--tmpfsmount
	[t]=--time_limit
	[U]=--uid_mapping
	[u]=--user
	[v]=--verbose
	[x]=--exec_file
)

_oc_nsjail_capabilities='CAP_AUDIT_CONTROL CAP_AUDIT_READ CAP_AUDIT_WRITE
CAP_BLOCK_SUSPEND CAP_BPF CAP_CHECKPOINT_RESTORE CAP_CHOWN CAP_DAC_OVERRIDE
CAP_DAC_READ_SEARCH CAP_FOWNER CAP_FSETID CAP_IPC_LOCK CAP_IPC_OWNER CAP_KILL
CAP_LEASE CAP_LINUX_IMMUTABLE CAP_MAC_ADMIN CAP_MAC_OVERRIDE CAP_MKNOD
CAP_NET_ADMIN CAP_NET_BIND_SERVICE CAP_NET_BROADCAST CAP_NET_RAW CAP_PERFMON
CAP_SETFCAP CAP_SETGID CAP_SETPCAP CAP_SETUID CAP_SYS_ADMIN CAP_SYS_BOOT
CAP_SYS_CHROOT CAP_SYSLOG CAP_SYS_MODULE CAP_SYS_NICE CAP_SYS_PACCT
CAP_SYS_PTRACE CAP_SYS_RAWIO CAP_SYS_RESOURCE CAP_SYS_TIME
CAP_SYS_TTY_CONFIG CAP_WAKE_ALARM'

# words: those up to the cursor, whole; at: the number that each begins with in
# COMP_WORDS, where bash has split a=b and a:b into three.
_oc_nsjail_words() {
	local i word rest=$COMP_LINE
	words=() at=()
	for ((i = 0; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if ((i > 1)) && [[ $rest != [[:blank:]]* ]]; then
			words[-1]+=$word
		else
			words+=("$word")
			at+=("$i")
		fi
		rest=${rest#*"$word"}
	done
}

# Reply with those of the words $1 that begin with $2, behind $3, or with what
# bash lacks of them when it has split the word.
_oc_nsjail_reply() {
	local reply piece=${COMP_WORDS[COMP_CWORD]}
	[[ $piece == [=:] ]] && piece=
	piece=${words[-1]%"$piece"}
	while read -r reply; do
		reply=${3-}$reply
		reply=${reply#"$piece"}
		[[ $reply ]] && COMPREPLY+=("$reply")
	done < <(compgen -W "$1" -- "$2")
}

# An operand of kind $1 of which $2 is there, behind $3.
_oc_nsjail_operand() {
	case $1 in
	api) _oc_nsjail_reply "auto new old" "$2" "$3" ;;
	bind | file) compopt -o default ;;
	capability) _oc_nsjail_reply "$_oc_nsjail_capabilities" "$2" "$3" ;;
	directory) compopt -o dirnames ;;
	group) _oc_nsjail_reply "$(compgen -g)" "$2" "$3" ;;
	interface)
		_oc_nsjail_reply "$(cd /sys/class/net && echo *)" "$2" "$3" ;;
	limit) _oc_nsjail_reply "soft hard inf" "$2" "$3" ;;
	macvlan)
		_oc_nsjail_reply "private vepa bridge passthru" "$2" "$3" ;;
	mode) _oc_nsjail_reply "o l r e" "$2" "$3" ;;
	user) _oc_nsjail_reply "$(compgen -u)" "$2" "$3" ;;
	variable) _oc_nsjail_reply "$(compgen -e)" "$2" "$3" ;;
	esac
}

# The option that the word $1 leaves without its operand, if one; fails when
# there is no such option.
_oc_nsjail_open() {
	local letter name i
	open=
	case $1 in
	--*=*) return 0 ;;
	--*) name=$1 ;;
	*)
		for ((i = 1; i < ${#1}; i++)); do
			letter=${1:i:1}
			name=${_oc_nsjail_letters[$letter]-}
			[[ $name ]] || return 1
			[[ ${_oc_nsjail_options[$name]} ]] || continue
			((i + 1 < ${#1})) && return 0
			break
		done
		;;
	esac
	[[ ${_oc_nsjail_options[$name]+known} ]] || return 1
	[[ ${_oc_nsjail_options[$name]} ]] && open=$name
	return 0
}

# From the command on, whose number is $1.
_oc_nsjail_command() {
	local last=${words[-1]}
	if (($1 < ${#words[@]} - 1)); then
		if declare -F _command_offset >/dev/null; then
			_command_offset "${at[$1]}"
		else
			compopt -o default
		fi
	elif [[ $last == */* ]]; then
		compopt -o default
	else
		mapfile -t COMPREPLY < <(compgen -c -- "$last")
	fi
}

_oc_nsjail() {
	local words at i open last word
	COMPREPLY=()
	_oc_nsjail_words
	last=$((${#words[@]} - 1))
	for ((i = 1; i < last; i++)); do
		word=${words[i]}
		[[ $word == -- ]] && { ((i++)); break; }
		[[ $word == -?* ]] || break
		_oc_nsjail_open "$word" || return
		[[ $open ]] || continue
		((++i < last)) && continue
		_oc_nsjail_operand "${_oc_nsjail_options[$open]}" \
			"${words[last]}" ''
		return
	done
	word=${words[last]}
	if ((i < last)) || [[ $word != -* || ${words[last - 1]} == -- ]]; then
		_oc_nsjail_command "$i"
	elif [[ $word == --*=* && ${_oc_nsjail_options[${word%%=*}]-} ]]; then
		_oc_nsjail_operand "${_oc_nsjail_options[${word%%=*}]}" \
			"${word#*=}" "${word%%=*}="
	else
		_oc_nsjail_reply "${!_oc_nsjail_options[*]}" "$word"
	fi
}

complete -F _oc_nsjail oc-nsjail
# And nsjail, where that is another name of this program.
case $(readlink -f -- "$(type -P nsjail)") in
*/oc-nsjail) complete -F _oc_nsjail nsjail ;;
esac
