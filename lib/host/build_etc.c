/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A synthetic /etc: who exists is made up here (the command and nobody), what
 * programs look up in the host's is added by name, and nothing else is there.
 */
#include <dirent.h>
#include <fnmatch.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "host/build.h"

static int
add_file(struct nsrun_build *b, const char *target, const char *text)
{
	const struct nsrun_mount m = {
		.kind = NSRUN_MOUNT_FILE, .target = target, .mode = 0444,
		.data = text, .n_data = text ? strlen(text) : 0,
	};

	return text ? nsrun_plan_add_mount(b->plan, &m, b->err) : -1;
}

static int
add_accounts(struct nsrun_build *b)
{
	const struct nsrun_identity *who = &b->plan->identity;
	static const char nobody[] =
	    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
	const char *root = who->uid == 0 ? "" :
	    "root:x:0:0:root:/root:/usr/sbin/nologin\n";
	const char *root_group = who->gid == 0 ? "" : "root:x:0:\n";

	if (add_file(b, "/etc/passwd", nsrun_build_text(b,
	    "%s%s:x:%u:%u:%s:%s:%s\n%s", root, b->user, (unsigned int)who->uid,
	    (unsigned int)who->gid, b->user, b->home, b->shell, nobody)) < 0)
		return -1;
	return add_file(b, "/etc/group", nsrun_build_text(b,
	    "%s%s:x:%u:\nnogroup:x:65534:\n", root_group, b->user,
	    (unsigned int)who->gid));
}

static int
add_made(struct nsrun_build *b)
{
	const char *name = b->plan->hostname;

	if (add_accounts(b) < 0 ||
	    add_file(b, "/etc/nsswitch.conf", "passwd: files\ngroup: files\n"
	    "shadow: files\nhosts: files dns\nnetworks: files\n"
	    "protocols: files\nservices: files\nethers: files\n"
	    "rpc: files\n") < 0)
		return -1;
	return add_file(b, "/etc/hosts", nsrun_build_text(b,
	    "127.0.0.1 localhost %s\n::1 localhost ip6-localhost"
	    " ip6-loopback\n", name));
}

/*
 * A link into /usr stays a link: what it says is of interest (the name of the
 * time zone). Any other is followed and its target shown in its place.
 */
static int
add_host_entry(struct nsrun_build *b, const char *name)
{
	const char *path = nsrun_build_text(b, "/etc/%s", name);
	char text[PATH_MAX];
	struct stat st;
	ssize_t n;

	if (!path)
		return -1;
	if (lstat(path, &st) < 0)
		return 0;
	if (S_ISLNK(st.st_mode)) {
		n = readlink(path, text, sizeof text - 1);
		text[n > 0 ? n : 0] = '\0';
		if (!strncmp(text, "/usr/", 5) || !strncmp(text, "../usr/", 7))
			return nsrun_build_add(b, NSRUN_MOUNT_SYMLINK, 0, text,
			    path);
		if (stat(path, &st) < 0)
			return 0;
	}
	return nsrun_build_bind(b, NSRUN_MOUNT_RDONLY | NSRUN_MOUNT_RECURSIVE |
	    NSRUN_MOUNT_NOEXEC | NSRUN_MOUNT_OPTIONAL, path,
	    st.st_mode & S_IFMT);
}

/* The names in the host's /etc, read once: it lacks most of a profile's. */
static int
read_names(struct nsrun_build *b, struct nsrun_words *names)
{
	DIR *dir = opendir("/etc");
	const struct dirent *entry;
	int rc = 0;

	while (rc == 0 && dir && (entry = readdir(dir))) {
		const char **v = nsrun_arena_grow(&b->plan->arena, names->v,
		    names->n, sizeof *v);

		if (v)
			names->v = v;
		if (!v || !(v[names->n++] = nsrun_arena_strdup(&b->plan->arena,
		    entry->d_name)))
			rc = nsrun_err_nomem(b->err, "/etc");
	}
	if (dir)
		closedir(dir);
	return rc;
}

/* Add what a word of the profile means: an entry, or all that it matches. */
static int
add_word(struct nsrun_build *b, const char *word,
    const struct nsrun_words *names)
{
	size_t n = strcspn(word, "/");
	bool pattern = strchr(word, '*');

	for (size_t i = 0; i < names->n; i++) {
		const char *name = names->v[i];

		if (pattern ? fnmatch(word, name, FNM_PERIOD) != 0 :
		    strncmp(word, name, n) || name[n])
			continue;
		if (add_host_entry(b, pattern ? name : word) < 0)
			return -1;
	}
	return 0;
}

int
nsrun_build_etc(struct nsrun_build *b)
{
	struct nsrun_words names = { 0 };

	if (add_made(b) < 0 || read_names(b, &names) < 0)
		return -1;
	for (size_t i = 0; i < b->profile->etc.n; i++)
		if (add_word(b, b->profile->etc.v[i], &names) < 0)
			return -1;
	return 0;
}
