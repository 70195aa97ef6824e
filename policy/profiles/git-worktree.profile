# git in the project, as a tool for worktrees runs it. No program of the
# project's is in the PATH.

profile    git-worktree
like       shell

nesting    none
wall       30s
network    denied
toolchain  none
path       /usr /bin /sbin /nix/store
pass       LANG LANGUAGE LC_* TZ TERM
set        GIT_CONFIG_GLOBAL /dev/null
set        GIT_CONFIG_NOSYSTEM 1
set        GIT_TERMINAL_PROMPT 0
