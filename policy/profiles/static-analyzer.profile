# A linter or an analyzer of the project.

profile    static-analyzer
like       shell

wall       120s
