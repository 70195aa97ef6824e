/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The command line, as getopt_long(3) reads it: options may follow words. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/number.h"
#include "nsjail.h"

enum { FIRST = 256, MAX_OPTIONS = 160 };

int
nsjail_refuse(struct nsjail *n, const char *name, const char *rule,
    const char *value)
{
	char option[80] = "--";

	strncat(option, name, sizeof option - 3);
	return nsrun_err_rule(&n->err, NSRUN_STEP_OPTION, rule, option, value);
}

int
nsjail_nomem(struct nsjail *n)
{
	return nsrun_err_nomem(&n->err, "settings");
}

void *
nsjail_append(struct nsjail *n, struct nsjail_list *list, size_t size)
{
	void *v = nsrun_arena_grow(&n->arena, list->v, list->n, size);

	if (!v) {
		nsjail_nomem(n);
		return NULL;
	}
	list->v = v;
	return memset((char *)v + size * list->n++, 0, size);
}

int
nsjail_number(const char *text, uint64_t max, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 0);
	return *text < '0' || *text > '9' || *end || errno || *number > max ?
	    -1 : 0;
}

/* The field's bit, as a configuration's reader sets it. */
static void *
place(struct nsjail *n, const char *name, const struct nsjail_field **field)
{
	const struct nsjail_field *f =
	    nsjail_field_find(&nsjail_config_message, name, false);
	size_t i = (size_t)(f - nsjail_config_message.fields);
	char *at = (char *)&n->config;

	n->config.given.bits[i / 64] |= (uint64_t)1 << i % 64;
	if (f->has_offset)
		*(bool *)(at + f->has_offset) = true;
	*field = f;
	return at + f->offset;
}

static int
set_signed(struct nsjail *n, const struct nsjail_option *o, const char *value,
    bool small, void *at)
{
	bool negative = *value == '-';
	uint64_t max = small ? INT32_MAX : INT64_MAX, number;

	if (nsjail_number(value + negative, max, &number) < 0)
		return nsjail_refuse(n, o->name, "is not a number", value);
	if (small)
		*(int32_t *)at = negative ? -(int32_t)number : (int32_t)number;
	else
		*(int64_t *)at = negative ? -(int64_t)number : (int64_t)number;
	return 0;
}

static int
set_unsigned(struct nsjail *n, const struct nsjail_option *o,
    const char *value, bool small, void *at)
{
	uint64_t number;

	if (nsjail_number(value, small ? UINT32_MAX : UINT64_MAX,
	    &number) < 0)
		return nsjail_refuse(n, o->name, "is not a number", value);
	if (small)
		*(uint32_t *)at = (uint32_t)number;
	else
		*(uint64_t *)at = number;
	return 0;
}

int
nsjail_do_field(struct nsjail *n, const struct nsjail_option *o,
    const char *value)
{
	const struct nsjail_field *f;
	void *at = place(n, o->field, &f);
	const char **text = at;

	if (!strcmp(o->name, "port"))
		n->config.mode = NSJAIL_LISTEN;
	if (f->flags & NSJAIL_NOWHERE)
		return 0;
	switch (f->type) {
	case NSJAIL_BOOL:
		*(bool *)at = true;
		return 0;
	case NSJAIL_U32:
	case NSJAIL_U64:
		return set_unsigned(n, o, value, f->type == NSJAIL_U32, at);
	case NSJAIL_I32:
	case NSJAIL_I64:
		return set_signed(n, o, value, f->type == NSJAIL_I32, at);
	case NSJAIL_STRING:
		if (f->flags & NSJAIL_REPEATED)
			text = nsjail_append(n, at, sizeof *text);
		if (!text)
			return -1;
		*text = value;
		return 0;
	case NSJAIL_ENUM:
	case NSJAIL_BYTES:
	case NSJAIL_MESSAGE:
		break;
	}
	return nsjail_refuse(n, o->name, "cannot be said here", value);
}

/* Here, where somebody is there to mend it, a wrong name is an error. */
int
nsjail_do_cap(struct nsjail *n, const struct nsjail_option *o,
    const char *value)
{
	return nsjail_cap_find(value) < 0 ? nsjail_refuse(n, o->name,
	    "there is no such capability", value) :
	    nsjail_do_field(n, o, value);
}

int
nsjail_do_unset(struct nsjail *n, const struct nsjail_option *o,
    const char *value)
{
	const struct nsjail_field *f;

	(void)value;
	*(bool *)place(n, o->field, &f) = false;
	return 0;
}

/* With all that user_net {} leaves out. */
int
nsjail_do_user_net(struct nsjail *n, const struct nsjail_option *o,
    const char *value)
{
	const struct nsjail_field *f;
	struct nsjail_user_net **net = place(n, o->field, &f);

	(void)value;
	if (*net)
		return 0;
	*net = nsrun_arena_alloc(&n->arena, sizeof **net);
	if (!*net)
		return nsjail_nomem(n);
	nsjail_message_init(&nsjail_user_net_message, *net);
	return 0;
}

/* Only the first letter is looked at. */
int
nsjail_do_mode(struct nsjail *n, const struct nsjail_option *o,
    const char *value)
{
	static const char letters[] = "lore";
	const char *at = *value ? strchr(letters, *value) : NULL;

	if (!at)
		return nsjail_refuse(n, o->name, "is none of l, o, r, e",
		    value);
	n->config.mode = (int)(at - letters);
	return 0;
}

/* With a fraction, to the millisecond. */
int
nsjail_do_time(struct nsjail *n, const struct nsjail_option *o,
    const char *value)
{
	uint64_t ms;

	if (nsjail_number(value, UINT32_MAX, &ms) == 0)
		ms *= 1000;
	else if (nsrun_duration_parse(value, &ms) < 0 ||
	    ms / 1000 > UINT32_MAX)
		return nsjail_refuse(n, o->name, "is not a time in seconds",
		    value);
	n->config.time_limit = (uint32_t)(ms / 1000);
	n->config.time_limit_ms = ms % 1000;
	return 0;
}

int
nsjail_do_limit(struct nsjail *n, const struct nsjail_option *o,
    const char *value)
{
	static const struct {
		const char *word;
		enum nsjail_limit_type type;
	} words[] = {
		{ "soft", NSJAIL_SOFT }, { "def", NSJAIL_SOFT },
		{ "hard", NSJAIL_HARD }, { "max", NSJAIL_HARD },
		{ "inf", NSJAIL_INF },
	};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (!strcasecmp(words[i].word, value)) {
			n->config.limit_types[o->number] = words[i].type;
			return 0;
		}
	if (nsjail_number(value, UINT64_MAX,
	    &n->config.limits[o->number]) < 0)
		return nsjail_refuse(n, o->name, "is neither a number nor"
		    " soft, hard or inf", value);
	n->config.limit_types[o->number] = NSJAIL_VALUE;
	return 0;
}

/* The first n_max parts between colons; the last has the rest. */
static int
split(struct nsjail *n, const char *value, const char *parts[], int n_max)
{
	char *copy = nsrun_arena_strdup(&n->arena, value);
	int k = 0;

	if (!copy)
		return nsjail_nomem(n);
	while (copy && k < n_max) {
		parts[k++] = copy;
		copy = k < n_max ? strchr(copy, ':') : NULL;
		if (copy)
			*copy++ = '\0';
	}
	return k;
}

int
nsjail_do_map(struct nsjail *n, const struct nsjail_option *o,
    const char *value)
{
	const char *parts[3] = { "", "", "" };
	struct nsjail_idmap *map;
	bool user = o->number == 'u' || o->number == 'U';
	uint64_t count = 1;
	int k = split(n, value, parts, 3);

	if (k < 0 || !(map = nsjail_append(n, user ? &n->uids : &n->gids,
	    sizeof *map)))
		return -1;
	if (k == 3 && *parts[2] &&
	    nsjail_number(parts[2], UINT32_MAX, &count) < 0)
		return nsjail_refuse(n, o->name, "its count is no number",
		    value);
	*map = (struct nsjail_idmap){
		.inside = parts[0], .outside = parts[1],
		.count = (uint32_t)count,
		.newidmap = o->number == 'U' || o->number == 'G',
	};
	return 0;
}

int
nsjail_do_mount(struct nsjail *n, const struct nsjail_option *o,
    const char *value)
{
	static const int most[] = {
		[NSJAIL_BIND_RO] = 2, [NSJAIL_BIND_RW] = 3, [NSJAIL_TMPFS] = 1,
		[NSJAIL_MOUNT] = 4, [NSJAIL_SYMLINK] = 2,
	};
	const char *parts[4] = { "", "", "", "" };
	int k = split(n, value, parts, most[o->number]);
	struct nsjail_mount *m;

	if (k < 0 || !(m = nsjail_append(n, &n->config.mounts, sizeof *m)))
		return -1;
	nsjail_message_init(&nsjail_mount_message, m);
	m->src = parts[0];
	m->dst = k > 1 ? parts[1] : parts[0];
	switch ((enum nsjail_mount_options)o->number) {
	case NSJAIL_BIND_RW:
		m->options = parts[2];
		m->rw = true;
		m->is_bind = true;
		return 0;
	case NSJAIL_BIND_RO:
		m->is_bind = true;
		return 0;
	case NSJAIL_TMPFS:
		m->src = "";
		m->fstype = "tmpfs";
		m->options = "size=4194304";
		m->rw = true;
		return 0;
	case NSJAIL_MOUNT:
		m->fstype = parts[2];
		m->options = parts[3];
		m->rw = true;
		return k < 3 || !*m->fstype ? nsjail_refuse(n, o->name,
		    "is not SRC:DST:TYPE:OPTIONS", value) : 0;
	case NSJAIL_SYMLINK:
		m->is_symlink = true;
		return k < 2 ? nsjail_refuse(n, o->name, "is not TEXT:LINK",
		    value) : 0;
	}
	return 0;
}

int
nsjail_do_root(struct nsjail *n, const struct nsjail_option *o,
    const char *value)
{
	if (o->number == 'w')
		n->rw = true;
	else
		n->chroot = value;
	return 0;
}

int
nsjail_do_proc(struct nsjail *n, const struct nsjail_option *o,
    const char *value)
{
	if (o->number == 'd')
		n->proc = false;
	else if (o->number == 'w')
		n->proc_rw = true;
	else
		n->proc_path = value;
	return 0;
}

int
nsjail_do_log(struct nsjail *n, const struct nsjail_option *o,
    const char *value)
{
	uint64_t fd;

	switch (o->number) {
	case 'l':
		return nsjail_log_open(n, value);
	case 'L':
		if (nsjail_number(value, INT32_MAX, &fd) < 0)
			return nsjail_refuse(n, o->name, "is no descriptor",
			    value);
		nsjail_log_set_fd(n, (int)fd);
		return 0;
	case 'v':
		n->log.level = NSJAIL_DEBUG;
		return 0;
	case 'q':
		n->log.level = NSJAIL_WARNING;
		return 0;
	default:
		n->log.level = NSJAIL_FATAL;
		return 0;
	}
}

int
nsjail_do_config(struct nsjail *n, const struct nsjail_option *o,
    const char *value)
{
	(void)o;
	return nsjail_config_read(n, value);
}

/* Of the command, whatever a configuration says; -C drops it. */
int
nsjail_do_exec(struct nsjail *n, const struct nsjail_option *o,
    const char *value)
{
	struct nsjail_exe *exe = n->config.exec_bin;

	if (!exe) {
		exe = nsrun_arena_alloc(&n->arena, sizeof *exe);
		if (!exe)
			return nsjail_nomem(n);
		n->config.exec_bin = exe;
	}
	if (o->number == 'f')
		exe->exec_fd = true;
	else
		exe->path = value;
	return 0;
}

int
nsjail_do_own(struct nsjail *n, const struct nsjail_option *o,
    const char *value)
{
	int32_t *passed;
	uint64_t fd;

	switch (o->number) {
	case 'h':
		n->wants_help = true;
		return 0;
	case 'i':
		n->init = true;
		return 0;
	case 'e':
		return strcmp(value, "old") && strcmp(value, "new") &&
		    strcmp(value, "auto") ? nsjail_refuse(n, o->name,
		    "is none of old, new, auto", value) : 0;
	default:
		break;
	}
	if (nsjail_number(value, INT32_MAX, &fd) < 0)
		return nsjail_refuse(n, o->name, "is no descriptor", value);
	if (o->number == 's') {
		n->status_fd = (int)fd;
		return fcntl(n->status_fd, F_GETFD) < 0 ? nsjail_refuse(n,
		    o->name, "is not open", value) : 0;
	}
	passed = nsjail_append(n, &n->pass_fds, sizeof *passed);
	if (!passed)
		return -1;
	*passed = (int32_t)fd;
	return 0;
}

/* For getopt_long(3); returns the short ones. */
static void
make_tables(struct option longs[], char *shorts)
{
	size_t i;

	for (i = 0; nsjail_options[i].name && i < MAX_OPTIONS - 1; i++) {
		const struct nsjail_option *o = &nsjail_options[i];

		longs[i] = (struct option){
			o->name, o->arg ? required_argument : no_argument,
			NULL, FIRST + (int)i,
		};
		if (!o->letter)
			continue;
		*shorts++ = (char)o->letter;
		if (o->arg)
			*shorts++ = ':';
	}
	memcpy(shorts, "?", 2);
	longs[i] = (struct option){ 0 };
}

static const struct nsjail_option *
find(int c)
{
	if (c >= FIRST)
		return &nsjail_options[c - FIRST];
	for (const struct nsjail_option *o = nsjail_options; o->name; o++)
		if (o->letter == c)
			return o;
	return NULL;
}

int
nsjail_parse(struct nsjail *n, int argc, char *argv[])
{
	struct option longs[MAX_OPTIONS];
	char shorts[2 * MAX_OPTIONS + 2];
	int c;

	make_tables(longs, shorts);
	/* What is unknown, ambiguous or lacks its operand getopt says. */
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		const struct nsjail_option *o = c == '?' ? NULL : find(c);

		if (!o)
			return nsrun_err_rule(&n->err, NSRUN_STEP_OPTION,
			    "is not understood; see --help",
			    argv[optind > 1 ? optind - 1 : 1], NULL);
		if (o->handle(n, o, optarg) < 0)
			return -1;
	}
	n->command = argv + optind;
	return n->wants_help ? 0 : nsjail_refuse_rest(n);
}
