/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ENV: what of the caller's environment and home arrives. */
#include "probe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

/* Every planted variable has the value planted=. */
static void
planted(void)
{
	const char *value = probe_param("planted");

	for (char **e = environ; *e; e++)
		if (strstr(*e, value) && !strstr(*e, "PROBE_"))
			probe_open("%.60s", *e);
	probe_blocked(0, "none");
}

/* Nothing but what the manual lists. */
static void
allowed(void)
{
	static const char *const names[] = { "CARGO_HOME", "HOME", "HOSTNAME",
		"LANG", "LC_ALL", "LOGNAME", "OPENCLAUDIA_SANDBOX", "PATH",
		"PWD", "RUSTUP_HOME", "SHELL", "TEMP", "TERM", "TMP", "TMPDIR",
		"USER", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
		"XDG_RUNTIME_DIR", "XDG_STATE_HOME" };
	int n = 0;

	for (char **e = environ; *e; e++, n++) {
		size_t len = strcspn(*e, "="), i;

		for (i = 0; i < sizeof names / sizeof *names; i++)
			if (strlen(names[i]) == len &&
			    !strncmp(*e, names[i], len))
				break;
		if (i == sizeof names / sizeof *names)
			probe_open("%.60s", *e);
	}
	probe_blocked(0, "%d variables", n);
}

/* One name twice would mean one thing to us and another to bash. */
static void
doubles(void)
{
	for (char **a = environ; *a; a++)
		for (char **b = a + 1; *b; b++) {
			size_t n = strcspn(*a, "=");

			if (n == strcspn(*b, "=") && !strncmp(*a, *b, n))
				probe_open("%.*s twice", (int)n, *a);
			if (!strchr(*b, '=') || **b == '=')
				probe_open("%.60s is no variable", *b);
		}
	probe_blocked(0, "no name twice");
}

static void
loader(void)
{
	static const char *const names[] = { "LD_PRELOAD", "LD_AUDIT",
		"LD_LIBRARY_PATH", "GLIBC_TUNABLES", "BASH_ENV", "ENV", "PS4",
		"SHELLOPTS", "PROMPT_COMMAND", "PYTHONPATH", "PYTHONSTARTUP",
		"PERL5OPT", "PERL5DB", "RUBYOPT", "NODE_OPTIONS",
		"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS",
		"GIT_DIR", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "PAGER",
		"LESSOPEN", "EDITOR", "MAKEFLAGS", "RUSTC_WRAPPER",
		"CARGO_BUILD_RUSTC_WRAPPER", "GOFLAGS", "GCC_EXEC_PREFIX",
		"TAR_OPTIONS", "RSYNC_RSH", "npm_config_registry",
		"PIP_INDEX_URL", "LISTEN_FDS", "NOTIFY_SOCKET" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (getenv(names[i]))
			probe_open("%s", names[i]);
	probe_blocked(0, "none of %zu", sizeof names / sizeof *names);
}

/* Private directories: ours, there, not a link, and empty at the start. */
static void
directories(void)
{
	static const char *const names[] = { "HOME", "TMPDIR", "TMP", "TEMP",
		"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME",
		"XDG_STATE_HOME", "XDG_RUNTIME_DIR" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *path = getenv(names[i]);
		struct stat st;

		if (path && strstr(path, "poisoned"))
			probe_open("%s=%s", names[i], path);
		if (!path || lstat(path, &st) < 0)
			probe_blocked(errno, "%s", names[i]);
		if (!S_ISDIR(st.st_mode) || st.st_uid != getuid())
			probe_open("%s: mode %o, owner %u", path, st.st_mode,
			    st.st_uid);
		if ((st.st_mode & 077) && !(st.st_mode & S_ISVTX))
			probe_open("%s: mode %o", path, st.st_mode);
	}
	probe_contained("all private");
}

static void
tmp_is_fresh(void)
{
	struct stat st;

	if (lstat(probe_param("left"), &st) == 0)
		probe_open("what was left before is there");
	if (symlink("/", probe_param("left")) < 0)
		probe_skip("symlink: %s", strerror(errno));
	probe_blocked(ENOENT, "nothing of an earlier run");
}

static void
accounts(void)
{
	char text[8192], *save = NULL;
	int n = 0;

	if (probe_read("/etc/passwd", text, sizeof text) < 0)
		probe_blocked(errno, "/etc/passwd");
	for (char *line = strtok_r(text, "\n", &save); line;
	    line = strtok_r(NULL, "\n", &save), n++)
		if (strncmp(line, "root:", 5) && strncmp(line, "nobody:", 7) &&
		    strtol(strstr(line, ":x:") ? strstr(line, ":x:") + 3 : "-1",
		    NULL, 10) != (long)getuid())
			probe_open("%.80s", line);
	probe_blocked(0, "%d accounts", n);
}

static void
host_files(void)
{
	static const char *const paths[] = { "/etc/shadow", "/etc/gshadow",
		"/etc/sudoers", "/etc/resolv.conf", "/etc/fstab",
		"/etc/machine-id", "/etc/ssh", "/etc/cron.d", "/etc/crontab",
		"/etc/ssl/private", "/var/run/docker.sock", "/var/lib",
		"/var/log", "/boot", "/root", "/srv", "/opt" };
	struct stat st;

	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		if (stat(paths[i], &st) == 0 &&
		    strcmp(paths[i], probe_param("home")))
			probe_open("%s", paths[i]);
	}
	probe_blocked(ENOENT, "none of %zu", sizeof paths / sizeof *paths);
}

static void
credentials(void)
{
	static const char *const names[] = { ".netrc", ".ssh/id_rsa",
		".gitconfig", ".aws/credentials", ".docker/config.json",
		".npmrc", ".cargo/credentials.toml", ".bash_history",
		".config/gh/hosts.yml", ".gnupg" };
	char path[4096];

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(path, sizeof path, "%s/%s", probe_param("home"),
		    names[i]);
		if (access(path, F_OK) == 0)
			probe_open("%s", path);
	}
	probe_blocked(errno, "none of %zu", sizeof names / sizeof *names);
}

const struct probe_check probe_env[] = {
	{ "ENV-01.planted", planted },
	{ "ENV-01.allowed", allowed },
	{ "ENV-03.loader", loader },
	{ "ENV-05.doubles", doubles },
	{ "ENV-07.directories", directories },
	{ "ENV-08.fresh", tmp_is_fresh },
	{ "ENV-09.accounts", accounts },
	{ "ENV-09.files", host_files },
	{ "ENV-10.credentials", credentials },
	{ NULL, NULL }
};
