# A command hook of a repository, which gets a JSON text on standard input. The
# hook's own deadline is the caller's --timeout. See nsrun-profiles(5).

profile    repository-hook
like       shell

nesting    none
wall       60s
set        CLAUDE_PROJECT_DIR $cwd	# where it starts

# --hook-mode, where the site's configuration permits it too.
hook
