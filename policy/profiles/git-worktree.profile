# git in the project, as a tool for work trees runs it: with a deadline.

profile    git-worktree
like       git

nesting    none
wall       30s
