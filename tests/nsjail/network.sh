#!/bin/sh
# The jail's network: interfaces that move in, a macvlan, routing rules, and
# pasta(1), in place of which a program of ours says what it was told. All of it
# inside network namespaces that are made for it, never with the host's.
. "${srcdir:?}"/tests/lib.sh
need_sandbox
cp "$top_builddir"/nsjail-compat/oc-nsjail "$work"/jail &&
	cp "$top_builddir"/tests/nsjail/fake_pasta "$work"/pasta || exit 99
J="$work/jail -q -c /"
PATH=$PATH:/usr/sbin:/sbin

# in_net CALLER SCRIPT [ARG]...: as root of a network with v0, v1, a veth pair
in_net() {
	in=$1 script=$2; shift 2
	if [ "$(id -u)" = 0 ] && [ $in = root ]; then user=; else user=-Ur; fi
	as $in unshare $user -n sh -c "ip link add v0 type veth peer name v1 &&
		ip link set v0 up && ip link set v1 up && J='$J' || exit 99
		$script" sh "$@" 2>&1
}
# config NAME TEXT: $work/NAME.cfg
config() {
	printf '%s\n' "name: \"$1\" $2" >"$work/$1.cfg"
}
# above PID: its parent; of pasta that is the guard, of the guard oc-nsjail
above() { sed -n 's/^PPid:[^0-9]*//p' "/proc/$1/status"; }
# gone PID
gone() { ! kill -0 "$1"; }

config rules 'traffic_rule [ { dst_ip: "10.0.0.0/8" action: DROP },
	{ src_ip: "fc00::/7" dst_ip: "::1" ip_family: IPV6 action: REJECT },
	{ proto: TCP dport: 80 dport_end: 90 action: ALLOW oif: "lo" } ]'
config rule0 'traffic_rule { action: UNKNOWN_ACTION }'
config rule4 'traffic_rule { dst_ip: "fc00::1" }'
config ports 'traffic_rule { dport: 90 dport_end: 80 }'
config all 'user_net { backend: PASTA ip4: "10.9.0.2" gw4: "10.9.0.1"
	ip6: "fd09::2" gw6: "fd09::1" ns_iface: "net7" pasta { mask4:
	"255.255.0.0" enable_ip4_dhcp: true enable_ip6_ra: true enable_dns: true
	dns_forward: "10.9.0.3" enable_udp: false enable_icmp: false
	map_gw: true tcp_map_in: "8080,9000-9002:90-92" udp_map_in: "auto"
	tcp_map_out: "127.0.0.1/25" } }'
config only4 'user_net { backend: PASTA pasta { ip6_enabled: false } }'
config splice 'user_net { backend: PASTA pasta { nat: false
	tcp_map_out: "80" } }'
config redirect 'user_net { rule4 [ { action: ALLOW proto: TCP },
	{ direction: HOST_TO_GUEST action: REDIRECT proto: TCP dport: 8080
	redirect_ip: "10.255.255.2" redirect_port: 80 },
	{ direction: HOST_TO_GUEST action: REDIRECT dport: 70 dport_end: 72 } ] }'
config drop 'user_net { rule4 { action: DROP } }'
config socks 'user_net { rule4 { action: ENCAP_SOCKS5 proto: TCP
	redirect_ip: "127.0.0.1" redirect_port: 1080 } }'
config elsewhere 'user_net { rule4 { direction: HOST_TO_GUEST action: REDIRECT
	proto: TCP dport: 80 redirect_ip: "10.0.0.1" } }'
config badip 'user_net { ip4: "10.255.255" }'
config badport 'user_net { backend: PASTA pasta { tcp_map_in: "80 -x" } }'
config option 'user_net { backend: PASTA pasta { tcp_map_in: "-l/x" } }'
config mask6 'user_net { backend: PASTA pasta { mask6: "48" } }'
config none 'user_net { backend: PASTA pasta { ip4_enabled: false
	ip6_enabled: false } }'
config both 'user_net { pasta { } }'

need_ip=$(ip -V 2>&1) && need_ip=
for caller in $callers; do
	[ -z "$need_ip" ] || { skip "$caller: interfaces" "$need_ip"; break; }
	said=$(in_net $caller 'true') || {
		skip "$caller: interfaces" "no veth pair here: $said"; continue; }
	like "$caller: an interface of ours is the jail's" "$(in_net $caller '
		$J --iface_own v1 -- /bin/sh -c "ip -o link"; echo "= $?"
		ip -o link show v1')" "*v1@*= 0*v1*does not exist*"
	like "$caller: there is none of that name" "$(in_net $caller '
		$J --iface_own nope -- /bin/true; echo "= $?"')" \
		"*network nope: if_nametoindex: No such device*= 255"

	if said=$(in_net $caller 'ip link add link v0 m0 type macvlan'); then
		said=$(in_net $caller '$J -I v0 --macvlan_vs_ip 10.1.2.3 \
			--macvlan_vs_nm 255.255.0.0 --macvlan_vs_gw 10.1.2.1 \
			--macvlan_vs_ma 02:00:00:00:00:0a \
			--macvlan_vs_mo bridge -- /bin/sh -c \
			"ip -d addr show vs; ip route"; echo "= $?"
			ip -o link')
		like "$caller: a macvlan, its address and netmask" "$said" \
			"*inet 10.1.2.3/16 brd 10.1.255.255 *= 0*"
		like "$caller: its MAC" "$said" "*ether 02:00:00:00:00:0a *"
		like "$caller: its mode" "$said" "*macvlan mode bridge*"
		like "$caller: its gateway" "$said" "*default via 10.1.2.1 dev vs*"
		unlike "$caller: and outside nothing stays" "$said" "*= 0*vs*"
		like "$caller: by default as nsjail says" "$(in_net $caller '
			$J -I v0 -- /bin/sh -c "ip -d addr show vs; ip route"
			')" "*mode private*192.168.0.2/24*via 192.168.0.1*"
		like "$caller: 0.0.0.0 is no address at all" "$(in_net $caller '
			$J -I v0 --macvlan_vs_ip 0.0.0.0 -- /bin/sh -c \
			"ip -4 addr show vs | grep inet; ip link show vs"
			')" "*vs@*state DOWN*"
		like "$caller: a gateway that is not there" "$(in_net $caller '
			$J -I v0 --macvlan_vs_gw 10.9.9.9 -- /bin/true
			echo "= $?"')" "*--macvlan_vs_gw: RTM_NEWROUTE: *= 255"
	else
		skip "$caller: a macvlan" "none here: $said"
	fi
	like "$caller: lo is up" "$(in_net $caller \
		'$J -- /bin/sh -c "ip -o link show lo"')" "*,UP*"
	unlike "$caller: lo is not, if so" "$(in_net $caller \
		'$J --iface_no_lo -- /bin/sh -c "ip -o link show lo"')" "*UP*"
	said=$(as $caller $work/jail -q -C "$work"/rules.cfg -c / -- \
		/bin/sh -c 'ip rule; ip -6 rule' 2>&1)
	like "$caller: rules, a later one first" "$said" \
		"*0:*from all oif lo ipproto * dport 80-90 lookup main*to 10.0.0.0/8 blackhole*lookup main*"
	like "$caller: rules of IPv6" "$said" \
		"*from fc00::/7 to ::1 unreachable*"
done
status "user: an interface of the host's is not his" 255 \
	as user $J --iface_own lo -- /bin/true
like "and that is said" "$said" "*takes CAP_NET_ADMIN*"

# refused WHAT PATTERN ARG...
refused() {
	what=$1 pattern=$2; shift 2
	status "$what: 255" 255 as user $J "$@" -- /bin/true
	like "$what: why" "$said" "$pattern"
}
refused "an address that is none" "*macvlan_vs_ip -> *: is no IPv4*" \
	-I v0 --macvlan_vs_ip 300.1.1.1
refused "a netmask with a hole" "*macvlan_vs_nm -> *: is no netmask*" \
	-I v0 --macvlan_vs_nm 255.0.255.0
refused "a gateway that is none" "*macvlan_vs_gw -> *: is no*" \
	-I v0 --macvlan_vs_gw x
refused "a short MAC address" "*macvlan_vs_ma -> *: is no MAC*" \
	-I v0 --macvlan_vs_ma 02:00:00:00:00
refused "a MAC address of many" "*is a multicast*" \
	-I v0 --macvlan_vs_ma 03:00:00:00:00:01
refused "a mode that is none" "*macvlan_vs_mo -> *: is none of*" \
	-I v0 --macvlan_vs_mo x
refused "a name that is none" "*macvlan_iface -> *: is no name*" -I a/b
for what in "--iface_own v0" "-I v0" --user_net; do
	# shellcheck disable=SC2086
	refused "$what in the caller's network" "*goes with no -N*" -N $what
done
refused "no user namespace to enter" "*takes a user namespace*" \
	--disable_clone_newuser --user_net
for what in rule0 rule4 ports; do
	refused "$what" "*--traffic_rule*: *" -C "$work/$what.cfg"
done

# fake CALLER DOES ARG...: what oc-nsjail says, and its status; $told: the words
fake() {
	caller=$1 does=$2; shift 2
	told_file=$work/$caller/told
	rm -f "$told_file" "$told_file.end"
	said=$(as $caller env NSJAIL_PASTA_PATH="$work"/pasta \
		FAKE_PASTA="$told_file" FAKE_PASTA_DOES="$does" \
		timeout -s KILL 60 "$work"/jail -q "$@" 2>&1; echo "= $?")
	# Of what root is always warned this is not about.
	said=$(printf '%s\n' "$said" | grep -v 'the caller is root')
	told=$(cat "$told_file" 2>/dev/null)
	fake_pid=${told%% *}
	told=${told#* }
	told=${told#-f -q }
	told=${told#--runas 0 }
}
# started DOES ARG...: in the background; $waited, and $fake_pid
started() {
	does=$1; shift
	rm -f "$work/$caller/told" "$work/$caller/told.end"
	as $caller env NSJAIL_PASTA_PATH="$work"/pasta \
		FAKE_PASTA="$work/$caller/told" FAKE_PASTA_DOES="$does" \
		"$work"/jail -q -c / --user_net "$@" \
		>"$work/$caller/out" 2>&1 &
	waited=$!
	eventually "$caller: pasta is told" grep -q . "$work/$caller/told"
	read -r fake_pid _ <"$work/$caller/told"
}
ins="--no-dhcp --no-dhcpv6 --no-ra --config-net"
nets="-a 10.255.255.2 -n 255.255.255.0 -g 10.255.255.1 -a fc00::2 -g fc00::1"
for caller in $callers; do
	fake $caller serve -c / --user_net -- /bin/echo HELLO
	is "$caller: --user_net, and the jail runs" "$said" "HELLO
= 0"
	is "$caller: what pasta is told" "$told" \
		"$ins --no-map-gw $nets -I eth0 -t none -u none -T none -U none"
	eventually "$caller: it ends with the jail" gone "$fake_pid"
	fake $caller serve -C "$work"/all.cfg -c / -- /bin/true
	is "$caller: every field" "$told$said" "--no-dhcpv6 --dhcp-dns --dns-forward 10.9.0.3 --no-udp --no-icmp -a 10.9.0.2 -n 255.255.0.0 -g 10.9.0.1 -a fd09::2 -g fd09::1 -I net7 -t 8080,9000-9002:90-92 -u auto -T 127.0.0.1/25 -U none= 0"
	fake $caller serve -C "$work"/only4.cfg -c / -- /bin/true
	is "$caller: IPv4 alone" "$told$said" "$ins -a 10.255.255.2 -n 255.255.255.0 -g 10.255.255.1 -4 -I eth0 -t none -u none -T none -U none= 0"
	fake $caller serve -C "$work"/splice.cfg -c / -- /bin/true
	is "$caller: ports and no addresses" "$told$said" \
		"-t none -u none -T 80 -U none --splice-only= 0"
	fake $caller serve -C "$work"/redirect.cfg -c / -- /bin/true
	is "$caller: rules that let ports in" "$told$said" "$ins --no-map-gw $nets -I eth0 -t 8080:80,70-72:70-72 -u 70-72:70-72 -T none -U none= 0"
	fake $caller fail -c / --user_net -- /bin/echo HELLO
	like "$caller: it fails, and so do we, with its words" "$said" \
		"*fake: cannot*= 255"
	unlike "$caller: nothing was run" "$said" "*HELLO*"
	for init in "" --init; do
		# shellcheck disable=SC2086
		started end $init -- /bin/sh -c 'echo HELLO; exec sleep 60'
		eventually "$caller: it runs" grep -q HELLO "$work/$caller/out"
		: >"$work/$caller/told.end"
		wait $waited
		rc=$?
		like "$caller: its end is the jail's $init" \
			"$(cat "$work/$caller/out")= $rc" "*pasta ended*= 137"
	done
	# By SIGKILL, too.
	started serve -- /bin/sh -c 'echo HELLO; exec sleep 60'
	eventually "$caller: it runs" grep -q HELLO "$work/$caller/out"
	kill -KILL "$(above "$(above "$fake_pid")")"
	wait $waited 2>/dev/null
	eventually "$caller: we are killed, and pasta ends" gone "$fake_pid"

	# The guard alone: it is the parent of pasta.
	started serve -- /bin/sh -c 'echo HELLO; exec sleep 60'
	eventually "$caller: it runs again" grep -q HELLO "$work/$caller/out"
	kill -KILL "$(above "$fake_pid")"
	wait $waited
	is "$caller: the guard is killed, and the jail ends" $? 137
	eventually "$caller: and so does pasta" gone "$fake_pid"

	# One that is never ready keeps nobody.
	started hang -- /bin/echo HELLO
	kill -TERM "$(above "$(above "$fake_pid")")"
	wait $waited
	is "$caller: a signal while pasta is waited for" \
		"$? $(grep -c HELLO "$work/$caller/out")" "143 0"
	eventually "$caller: and pasta ends" gone "$fake_pid"
done
for what in drop socks elsewhere badip badport option mask6 none both; do
	refused "user_net: $what" "*--user_net*: *" -C "$work/$what.cfg"
done
status "no pasta: 255" 255 as user env PATH=/nonexistent \
	"$work"/jail -q -c / --user_net -- /bin/true
like "no pasta: why" "$said" "*takes pasta(1)*passt*"

# And pasta(1) itself, to a network that is only told to lead outside.
config gateway 'user_net { backend: PASTA ip4: "10.255.254.2"
	gw4: "10.255.254.1" pasta { ip6_enabled: false } }'
config inbound 'mount_proc: true user_net { rule4 { direction: HOST_TO_GUEST
	proto: TCP action: REDIRECT dport: 8081 redirect_port: 8181 } }'
out='ip link set lo up && ip addr add 192.0.2.1/24 dev v0 &&
	ip route add default via 192.0.2.254 || exit 99'
# What says WORD to whoever connects to a port of its own loopback.
cat >"$work"/server <<'EOF'
use IO::Socket::INET;
my $s = IO::Socket::INET->new(LocalAddr => $ARGV[1], LocalPort => $ARGV[0],
    Listen => 5, ReuseAddr => 1) or die "listen: $!";
$| = 1;
print "listens\n";
while (my $c = $s->accept) { print $c "$ARGV[2]\n"; close $c; }
EOF
cat >"$work"/client <<'EOF'
use IO::Socket::INET;
my $s = IO::Socket::INET->new(PeerAddr => $ARGV[1], PeerPort => $ARGV[0],
    Timeout => 5) or die "connect: $!";
print <$s>;
EOF
for caller in $callers; do
	why=$(command -v pasta >/dev/null || echo "pasta is not installed")
	[ "$why" ] || as $caller test -w /dev/net/tun || why="no /dev/net/tun"
	[ "$why" ] || perl -MIO::Socket::INET -e 1 2>/dev/null || why="no perl"
	[ "$why" ] || in_net $caller "$out" >/dev/null || why="no veth pair"
	[ -z "$why" ] || { skip "$caller: pasta(1)" "$why"; continue; }
	said=$(in_net $caller "$out"'
		perl "$1"/server 7777 127.0.0.1 from-host >/dev/null & h=$!
		"$1"/jail -q -C "$1"/gateway.cfg -c / -- /bin/sh -c "
			ip -4 -o addr show eth0
			for i in 1 2 3 4 5 6 7 8 9; do
				perl $1/client 7777 10.255.254.1 && break
				sleep 0.3
			done"
		"$1"/jail -q -c / --user_net -- /usr/bin/perl \
			"$1"/client 7777 10.255.255.1 || echo not by default
		kill $h' "$work")
	like "$caller: pasta: the address that was asked for" "$said" \
		"*inet 10.255.254.2/24*"
	like "$caller: pasta: the gateway is the host, if so" "$said" \
		"*from-host*"
	like "$caller: pasta: and is not, with --user_net" "$said" \
		"*from-host*not by default*"
	said=$(in_net $caller "$out"'
		"$1"/jail -q -t 30 -C "$1"/inbound.cfg -c / -- /usr/bin/perl \
			"$1"/server 8181 0.0.0.0 from-jail >"$2" 2>&1 & j=$!
		for i in $(seq 40); do
			perl "$1"/client 8081 127.0.0.1 2>/dev/null |
				grep from-jail && break
			sleep 0.25
		done
		kill $j; wait $j' "$work" "$(home $caller)/out")
	is "$caller: pasta: a port that leads in" "$said" from-jail
	is "$caller: pasta: it has ended" "$(cat /proc/[0-9]*/cmdline \
		2>/dev/null | tr '\0' ' ' | grep -c 'pasta.*10[.]255[.]254')" 0
done
done_testing
