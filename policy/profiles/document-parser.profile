# A parser of documents that come from anywhere, on standard input or in a
# granted directory. It runs system programs only.

profile    document-parser
like       shell

nesting    none
wall       30s
network    denied
toolchain  none
path       /usr /bin /sbin /nix/store
pass       LANG LC_* TZ
