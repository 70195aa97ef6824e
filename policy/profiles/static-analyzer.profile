# A linter or an analyzer of the project.

profile    static-analyzer
like       shell

nesting    none
wall       120s
