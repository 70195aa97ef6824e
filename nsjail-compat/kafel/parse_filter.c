/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kafel/parse.h"

#include <string.h>
#include <strings.h>

/*
 * The kernel has 32 bits of number, so a negative one stands for its low
 * half. Kafel would cut any other number too.
 */
static int
set_number(struct kafel_parser *p, const struct kafel_place *place,
    uint64_t number, struct kafel_filter *filter)
{
	if (number > UINT32_MAX && number < (uint64_t)INT32_MIN)
		return kafel_fail(place, "not the number of a call", NULL,
		    p->lex->err);
	filter->nr = (uint32_t)number;
	return 0;
}

static int
parse_call(struct kafel_parser *p, struct kafel_filter *filter)
{
	const struct kafel_named *found;
	struct kafel_place place;
	uint64_t number;

	filter->place = p->tok.place;
	if (p->tok.kind == KAFEL_TOKEN_NAME) {
		found = kafel_name_find(&p->consts, p->tok.word);
		if (!found)
			filter->call = p->tok.word;
		else if (set_number(p, &filter->place, found->value,
		    filter) < 0)
			return -1;
		return kafel_next(p);
	}
	if (!kafel_at(p, "SYSCALL"))
		return kafel_expected(p, "a system call");
	if (kafel_next(p) < 0 || kafel_expect(p, "[") < 0)
		return -1;
	place = p->tok.place;
	if (kafel_take_number(p, &number) < 0 ||
	    set_number(p, &place, number, filter) < 0)
		return -1;
	return kafel_expect(p, "]");
}

static int
add_arg(struct kafel_parser *p, struct kafel_filter *filter)
{
	struct kafel_place place = p->tok.place;
	const char *name;

	if (kafel_take_name(p, "the name of an argument", &name) < 0)
		return -1;
	for (unsigned int i = 0; i < filter->n_args; i++)
		if (!strcmp(filter->args[i], name))
			return kafel_fail(&place, "a second argument", name,
			    p->lex->err);
	if (filter->n_args == KAFEL_ARGS)
		return kafel_fail(&place, "more than 6 arguments", name,
		    p->lex->err);
	filter->args[filter->n_args++] = name;
	return 0;
}

static int
parse_args(struct kafel_parser *p, struct kafel_filter *filter)
{
	int more = kafel_accept(p, "(");

	if (more <= 0)
		return more;
	filter->declared = 1;
	more = kafel_at(p, ")") ? 0 : 1;
	while (more > 0) {
		if (add_arg(p, filter) < 0)
			return -1;
		more = kafel_accept(p, ",");
	}
	return more < 0 ? -1 : kafel_expect(p, ")");
}

/* Returns 1 if the name is that of p->arch, 0 if of another, -1 if of none. */
static int
parse_arch(struct kafel_parser *p)
{
	static const struct {
		const char	*name;
		enum kafel_arch	arch;
	} arches[] = {
		{ "x86_64", KAFEL_X86_64 }, { "amd64", KAFEL_X86_64 },
		{ "aarch64", KAFEL_AARCH64 }, { "arm64", KAFEL_AARCH64 },
		{ "x86", KAFEL_N_ARCHES }, { "i386", KAFEL_N_ARCHES },
		{ "arm", KAFEL_N_ARCHES }, { "mips", KAFEL_N_ARCHES },
		{ "mipso32", KAFEL_N_ARCHES }, { "mips64", KAFEL_N_ARCHES },
		{ "riscv64", KAFEL_N_ARCHES }, { "rv64", KAFEL_N_ARCHES },
		{ "m68k", KAFEL_N_ARCHES },
	};
	struct kafel_place place = p->tok.place;
	const char *name;

	if (kafel_take_name(p, "an architecture", &name) < 0)
		return -1;
	for (size_t i = 0; i < sizeof arches / sizeof arches[0]; i++)
		if (!strcasecmp(arches[i].name, name))
			return arches[i].arch == p->arch;
	return kafel_fail(&place, "unknown architecture", name, p->lex->err);
}

static int
parse_guard(struct kafel_parser *p, struct kafel_filter *filter)
{
	int more = kafel_accept(p, "ON"), braces, here, found = 0;

	if (more <= 0)
		return more;
	braces = kafel_accept(p, "{");
	if (braces < 0)
		return -1;
	while (more > 0) {
		here = parse_arch(p);
		if (here < 0)
			return -1;
		found |= here;
		more = braces ? kafel_accept(p, ",") : 0;
	}
	filter->elsewhere = !found;
	if (more < 0)
		return -1;
	return braces ? kafel_expect(p, "}") : 0;
}

int
kafel_parse_filter(struct kafel_parser *p, struct kafel_filter *filter)
{
	int braces;

	if (parse_call(p, filter) < 0 || parse_args(p, filter) < 0 ||
	    parse_guard(p, filter) < 0)
		return -1;
	braces = kafel_accept(p, "{");
	if (braces <= 0)
		return braces;
	if (!kafel_at(p, "}") && kafel_parse_expr(p, &filter->when) < 0)
		return -1;
	return kafel_expect(p, "}");
}
