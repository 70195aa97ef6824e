/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "values.h"

#include <stdio.h>
#include <string.h>

int
nsjail_read_error(struct nsjail_reader *r, const char *at, const char *field,
    const char *rule)
{
	unsigned int line = 1;
	const char *start = r->text;
	char where[360];

	for (const char *s = r->text; s < at && s < r->end; s++)
		if (*s == '\n') {
			line++;
			start = s + 1;
		}
	snprintf(where, sizeof where, "%.250s:%u:%u%s%.80s", r->name, line,
	    (unsigned int)(at - start) + 1, field ? ": " : "",
	    field ? field : "");
	return nsrun_err_rule(r->err, NSRUN_STEP_OPTION, rule, where, NULL);
}

int
nsjail_give(struct nsjail_reader *r, const struct nsjail_message *message,
    void *msg, const struct nsjail_field *f, const char *at)
{
	size_t i = (size_t)(f - message->fields);
	uint64_t *word = &((struct nsjail_given *)msg)->bits[i / 64];
	uint64_t bit = (uint64_t)1 << i % 64;

	if (*word & bit && !(f->flags & NSJAIL_REPEATED))
		return nsjail_read_error(r, at, f->name, "is given twice");
	*word |= bit;
	if (f->has_offset)
		*(bool *)((char *)msg + f->has_offset) = true;
	return 0;
}

int
nsjail_read_begin(struct nsjail_reader *r)
{
	r->scratch = nsrun_arena_alloc(r->arena, (size_t)(r->end - r->text) +
	    1);
	return r->scratch ? 0 : nsrun_err_nomem(r->err, r->name);
}

static size_t
size_of(enum nsjail_type type)
{
	switch (type) {
	case NSJAIL_BOOL:
		return sizeof(bool);
	case NSJAIL_U32:
	case NSJAIL_I32:
		return sizeof(uint32_t);
	case NSJAIL_U64:
	case NSJAIL_I64:
		return sizeof(uint64_t);
	case NSJAIL_ENUM:
		return sizeof(int);
	case NSJAIL_STRING:
		return sizeof(char *);
	case NSJAIL_BYTES:
		return sizeof(struct nsjail_bytes);
	case NSJAIL_MESSAGE:
		break;
	}
	return 0;
}

/* Where the next value goes; NULL: no memory. */
static void *
place(struct nsjail_reader *r, void *msg, const struct nsjail_field *f,
    size_t size)
{
	void *at = (char *)msg + f->offset;
	struct nsjail_list *list = at;
	void *v;

	if (!(f->flags & NSJAIL_REPEATED))
		return at;
	v = nsrun_arena_grow(r->arena, list->v, list->n, size);
	if (!v) {
		nsrun_err_nomem(r->err, f->name);
		return NULL;
	}
	list->v = v;
	return (char *)v + size * list->n++;
}

static int
read_bool(const struct nsjail_reader *r, const struct nsjail_value *value,
    bool *so)
{
	static const char *const words[2][3] = {
		{ "false", "False", "f" }, { "true", "True", "t" },
	};

	if (value->kind == NSJAIL_NUMBER && !r->is_json && !value->negative &&
	    value->magnitude <= 1) {
		*so = value->magnitude;
		return 0;
	}
	for (int i = 0; i < 2 && value->kind == NSJAIL_WORD; i++)
		for (int k = 0; k < (r->is_json ? 1 : 3); k++)
			if (!strcmp(value->text, words[i][k])) {
				*so = i;
				return 0;
			}
	return -1;
}

static int
read_enum(const struct nsjail_reader *r, const struct nsjail_field *f,
    const struct nsjail_value *value, int *number)
{
	bool word = value->kind == (r->is_json ? NSJAIL_TEXT : NSJAIL_WORD);

	for (const struct nsjail_enum *e = f->names; e->name; e++)
		if (word ? !strcmp(e->name, value->text) :
		    value->kind == NSJAIL_NUMBER && !value->negative &&
		    value->magnitude == (uint64_t)e->value) {
			*number = e->value;
			return 0;
		}
	return -1;
}

/* Does it fit the field's type? */
static bool
fits(const struct nsjail_field *f, const struct nsjail_value *value)
{
	bool small = f->type == NSJAIL_U32 || f->type == NSJAIL_I32;
	uint64_t max = small ? UINT32_MAX : UINT64_MAX;

	if (value->kind != NSJAIL_NUMBER)
		return false;
	if (f->type == NSJAIL_I32 || f->type == NSJAIL_I64) {
		max = max / 2 + value->negative;
		return value->magnitude <= max;
	}
	return value->magnitude <= max &&
	    !(value->negative && value->magnitude);
}

static int
store(struct nsjail_reader *r, const struct nsjail_field *f,
    const struct nsjail_value *value, void *at)
{
	uint64_t number = value->negative ? -value->magnitude :
	    value->magnitude;

	switch (f->type) {
	case NSJAIL_BOOL:
		return read_bool(r, value, at) < 0 ? nsjail_read_error(r,
		    value->at, f->name, "is neither true nor false") : 0;
	case NSJAIL_U32:
	case NSJAIL_I32:
	case NSJAIL_U64:
	case NSJAIL_I64:
		if (!fits(f, value))
			return nsjail_read_error(r, value->at, f->name,
			    value->kind == NSJAIL_NUMBER ? "is out of range" :
			    "is not a number");
		if (size_of(f->type) == sizeof(uint32_t))
			*(uint32_t *)at = (uint32_t)number;
		else
			*(uint64_t *)at = number;
		return 0;
	case NSJAIL_ENUM:
		return read_enum(r, f, value, at) < 0 ? nsjail_read_error(r,
		    value->at, f->name, "is none of its names") : 0;
	case NSJAIL_STRING:
		if (value->kind != NSJAIL_TEXT)
			break;
		if (strlen(value->text) != value->n)
			return nsjail_read_error(r, value->at, f->name,
			    "holds a NUL byte");
		*(const char **)at = value->text;
		return 0;
	case NSJAIL_BYTES:
		if (value->kind != NSJAIL_TEXT)
			break;
		*(struct nsjail_bytes *)at = (struct nsjail_bytes){
			value->text, value->n,
		};
		return 0;
	case NSJAIL_MESSAGE:
		break;
	}
	return nsjail_read_error(r, value->at, f->name,
	    f->type == NSJAIL_MESSAGE ? "is a message" :
	    "is not a quoted string");
}

int
nsjail_keep(struct nsjail_reader *r, void *msg, const struct nsjail_field *f,
    const struct nsjail_value *value)
{
	struct nsjail_bytes nowhere;	/* as large as any */
	void *at = &nowhere;

	if (f->type != NSJAIL_MESSAGE && !(f->flags & NSJAIL_NOWHERE))
		at = place(r, msg, f, size_of(f->type));
	return at ? store(r, f, value, at) : -1;
}

void *
nsjail_keep_message(struct nsjail_reader *r, void *msg,
    const struct nsjail_field *f)
{
	bool inside = f->flags & NSJAIL_REPEATED &&
	    !(f->flags & NSJAIL_NOWHERE);
	void *m = inside ? place(r, msg, f, f->message->size) :
	    nsrun_arena_alloc(r->arena, f->message->size);

	if (!m) {
		nsrun_err_nomem(r->err, f->name);
		return NULL;
	}
	nsjail_message_init(f->message, m);
	if (!inside && !(f->flags & NSJAIL_NOWHERE))
		*(void **)((char *)msg + f->offset) = m;
	return m;
}

int
nsjail_check_required(struct nsjail_reader *r,
    const struct nsjail_message *message, const void *msg, const char *at)
{
	for (const struct nsjail_field *f = message->fields; f->name; f++)
		if (f->flags & NSJAIL_REQUIRED &&
		    !nsjail_field_given(message, msg, f->name))
			return nsjail_read_error(r, at, f->name,
			    "is required and missing");
	return 0;
}
