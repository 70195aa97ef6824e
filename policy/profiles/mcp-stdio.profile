# A server of the Model Context Protocol on standard input and output: one that
# the host trusts by its exact name, started from a file that only root can
# replace. It lives as long as its client.

profile    mcp-stdio
like       shell

server				# --server PLUGIN/SERVER, and a trusted one
wall       none
limit      cpu none
network    denied
path       /usr /bin /sbin /nix/store .cargo/bin toolchains
pass       LANG LANGUAGE LC_* TZ
