# A gate of the project: its build, its tests, run without a shell.

profile    quality-gate
like       shell

wall       300s
