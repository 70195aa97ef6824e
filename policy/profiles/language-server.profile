# A language server: it lives as long as its editor and answers on a pipe. It
# may run a project's own programs, and needs few of the caller's variables.

profile    language-server
like       shell

wall       none
limit      cpu none		# 300 seconds would end it in mid-session
pass       LANG LC_* TZ
