# SPDX-License-Identifier: LGPL-2.1-or-later
# bash completion for oc-bwrap(1).

# The options and the kinds of their operands. tests/check_options.sh compares.
declare -gA _oc_bwrap_options=(
	[--add-seccomp-fd]=fd
	[--args]=fd
	[--argv0]=text
	[--as-pid-1]=''
	[--assert-userns-disabled]=''
	[--bind]='path path'
	[--bind-data]='fd path'
	[--bind-fd]='fd path'
	[--bind-try]='path path'
	[--block-fd]=fd
	[--cap-add]=capability
	[--cap-drop]=capability
	[--chdir]=directory
	[--chmod]='mode path'
	[--clearenv]=''
	[--dev]=directory
	[--dev-bind]='path path'
	[--dev-bind-try]='path path'
	[--die-with-parent]=''
	[--dir]=directory
	[--disable-userns]=''
	[--exec-label]=text
	[--file]='fd path'
	[--file-label]=text
	[--forward-signals]=''
	[--gid]=id
	[--gid-map]=text
	[--help]=''
	[--hostname]=text
	[--info-fd]=fd
	[--json-status-extended]=''
	[--json-status-fd]=fd
	[--kill-on-exit]=''
	[--level-prefix]=''
	[--lock-file]=path
	[--mqueue]=directory
	[--netns]=fd
	[--new-session]=''
	[--noexec]=''
	[--not-a-security-boundary]=''
	[--overlay]='directory directory directory'
	[--overlay-src]=directory
	[--perms]=mode
	[--pidns]=fd
	[--proc]=directory
	[--pty]=''
	[--remount-ro]=directory
	[--rlimit]=limit
	[--ro-bind]='path path'
	[--ro-bind-data]='fd path'
	[--ro-bind-fd]='fd path'
	[--ro-bind-try]='path path'
	[--ro-overlay]=directory
	[--seccomp]=fd
	[--setenv]='variable text'
	[--share-net]=''
	[--size]=text
	[--strict-destinations]=''
	[--symlink]='path path'
	[--sync-fd]=fd
	[--tmp-overlay]=directory
	[--tmpfs]=directory
	[--uid]=id
	[--uid-map]=text
	[--unsetenv]=variable
	[--unshare-all]=''
	[--unshare-cgroup]=''
	[--unshare-cgroup-try]=''
	[--unshare-ipc]=''
	[--unshare-net]=''
	[--unshare-pid]=''
	[--unshare-user]=''
	[--unshare-user-try]=''
	[--unshare-uts]=''
	[--userns]=fd
	[--userns-block-fd]=fd
	[--userns2]=fd
	[--version]=''
)

_oc_bwrap_capabilities='ALL CAP_AUDIT_CONTROL CAP_AUDIT_READ CAP_AUDIT_WRITE
CAP_BLOCK_SUSPEND CAP_BPF CAP_CHECKPOINT_RESTORE CAP_CHOWN CAP_DAC_OVERRIDE
CAP_DAC_READ_SEARCH CAP_FOWNER CAP_FSETID CAP_IPC_LOCK CAP_IPC_OWNER CAP_KILL
CAP_LEASE CAP_LINUX_IMMUTABLE CAP_MAC_ADMIN CAP_MAC_OVERRIDE CAP_MKNOD
CAP_NET_ADMIN CAP_NET_BIND_SERVICE CAP_NET_BROADCAST CAP_NET_RAW CAP_PERFMON
CAP_SETFCAP CAP_SETGID CAP_SETPCAP CAP_SETUID CAP_SYS_ADMIN CAP_SYS_BOOT
CAP_SYS_CHROOT CAP_SYSLOG CAP_SYS_MODULE CAP_SYS_NICE CAP_SYS_PACCT
CAP_SYS_PTRACE CAP_SYS_RAWIO CAP_SYS_RESOURCE CAP_SYS_TIME
CAP_SYS_TTY_CONFIG CAP_WAKE_ALARM'

_oc_bwrap_limits='as= core= cpu= data= fsize= memlock= msgqueue= nofile= nproc=
rtprio= sigpending='

# words: those up to the cursor, whole; at: the number that each begins with in
# COMP_WORDS, where bash has split a=b into three.
_oc_bwrap_words() {
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

# Reply with those of the words $1 that begin with $2, or with what bash lacks
# of them when it has split $2.
_oc_bwrap_reply() {
	local reply piece=${COMP_WORDS[COMP_CWORD]}
	[[ $piece == [=:] ]] && piece=
	piece=${2%"$piece"}
	while read -r reply; do
		reply=${reply#"$piece"}
		[[ $reply ]] && COMPREPLY+=("$reply")
	done < <(compgen -W "$1" -- "$2")
}

_oc_bwrap_operand() {
	case $1 in
	capability) _oc_bwrap_reply "$_oc_bwrap_capabilities" "$2" ;;
	directory) compopt -o dirnames ;;
	id) _oc_bwrap_reply "0 $UID" "$2" ;;
	limit)
		compopt -o nospace
		_oc_bwrap_reply "$_oc_bwrap_limits" "$2"
		;;
	mode) _oc_bwrap_reply "0400 0444 0555 0600 0644 0700 0755 1777" "$2" ;;
	path) compopt -o default ;;
	variable) _oc_bwrap_reply "$(compgen -e)" "$2" ;;
	esac
}

# The word at the cursor is no operand: an option, or from the command on, whose
# number is $1.
_oc_bwrap_other() {
	local last=${words[-1]}
	if (($1 < ${#words[@]} - 1)); then
		if declare -F _command_offset >/dev/null; then
			_command_offset "${at[$1]}"
		else
			compopt -o default
		fi
	elif [[ $last == -* && ${words[-2]} != -- ]]; then
		_oc_bwrap_reply "${!_oc_bwrap_options[*]}" "$last"
	elif [[ $last == */* ]]; then
		compopt -o default
	else
		mapfile -t COMPREPLY < <(compgen -c -- "$last")
	fi
}

_oc_bwrap() {
	local words at i word kind last
	COMPREPLY=()
	_oc_bwrap_words
	last=$((${#words[@]} - 1))
	for ((i = 1; i < last; i++)); do
		word=${words[i]}
		[[ $word == -- ]] && ((i++))
		[[ $word == --?* ]] || break
		[[ ${_oc_bwrap_options[$word]+known} ]] || return
		for kind in ${_oc_bwrap_options[$word]}; do
			((++i < last)) && continue
			_oc_bwrap_operand "$kind" "${words[last]}"
			return
		done
	done
	_oc_bwrap_other "$i"
}

complete -F _oc_bwrap oc-bwrap
# And bwrap, where that is another name of this program.
case $(readlink -f -- "$(type -P bwrap)") in
*/oc-bwrap) complete -F _oc_bwrap bwrap ;;
esac
