/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A host with sessions, for api.sh: what it does stands in a file, a line each,
 * and it says how each ended. It knows nothing but nsrun.h.
 *
 *	register ID [NAME=VALUE]...
 *	launch ID [NAME=VALUE]... -- SHELL COMMAND
 *	late ID [NAME=VALUE]... -- SHELL COMMAND
 *		a launch whose session is released once before it starts
 *	many N ID -- SHELL COMMAND
 *		N launches, one after the other
 *	try N ID -- SHELL COMMAND
 *		N launches, of which some may fail
 *	threads N ID -- SHELL COMMAND
 *		N launches at once
 *	temp ID		its directory, which SESSION_TEMP is from then on
 *	release ID
 *	fds		how many descriptors are open
 *	setenv NAME VALUE
 *	! SHELL COMMAND
 */
#include <nsrun.h>

#include <dirent.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_SESSIONS = 8, MAX_THREADS = 16 };

static struct known {
	char			id[64];
	struct nsrun_session	*session;
	int			n_users;
} sessions[MAX_SESSIONS];

static void
die(const char *what)
{
	perror(what);
	exit(99);
}

static struct known *
find(const char *id)
{
	for (int i = 0; i < MAX_SESSIONS; i++)
		if (!strcmp(sessions[i].id, id))
			return &sessions[i];
	for (int i = 0; i < MAX_SESSIONS; i++)
		if (!*sessions[i].id && strlen(id) < sizeof sessions[i].id) {
			strcpy(sessions[i].id, id);
			return &sessions[i];
		}
	die(id);
	return NULL;
}

/* A line of what happened, and for an error what the library says of it. */
static int
tell(const char *what, int rc, const struct nsrun_err *err)
{
	printf("%s: ", what);
	fflush(stdout);
	if (rc == 0)
		puts("ok");
	else
		nsrun_err_print(STDOUT_FILENO, "error", err);
	fflush(stdout);
	return rc;
}

/* NAME=VALUE... up to "--", and what stands behind that, for a shell. */
static struct nsrun_request *
read_request(char *words, struct nsrun_err *err)
{
	struct nsrun_request *r = nsrun_request_new();
	char *command = words ? strstr(words, "-- ") : NULL;
	char *argv[] = { (char[]){ "sh" }, (char[]){ "-c" },
	    command ? command + 3 : NULL, NULL };
	int rc = r ? 0 : -1;

	if (command)
		*command = '\0';
	for (char *word = words ? strtok(words, " ") : NULL; word && rc == 0;
	    word = strtok(NULL, " ")) {
		char *value = strchr(word, '=');

		if (value)
			*value++ = '\0';
		rc = nsrun_request_set(r, word, value, err);
	}
	if (command && rc == 0)
		rc = nsrun_request_set_command(r, argv, err);
	if (rc == 0)
		return r;
	nsrun_request_free(r);
	return NULL;
}

static int
run_plan(const struct nsrun_plan *plan, struct nsrun_err *err)
{
	struct nsrun_run *run;
	struct nsrun_result result;
	int status = -1;

	if (nsrun_start(&run, plan, err) < 0)
		return -1;
	if (nsrun_wait(run, &result, err) == 0)
		status = result.status;
	nsrun_run_free(run);
	return status;
}

/* The status, or -1; `late` is released between the plan and its start. */
static int
launch(const struct nsrun_session *session, const struct nsrun_request *r,
    struct nsrun_session *late, struct nsrun_err *err)
{
	struct nsrun_plan *plan;
	int status;

	if (nsrun_session_plan(&plan, session, r, err) < 0 ||
	    nsrun_session_release(late, err) < 0)
		return -1;
	status = run_plan(plan, err);
	nsrun_plan_free(plan);
	return status;
}

static void
do_launch(const char *id, char *words, bool late)
{
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct nsrun_session *session = find(id)->session;
	struct nsrun_request *r = read_request(words, &err);
	int status = r ? launch(session, r, late ? session : NULL, &err) : -1;

	if (status < 0)
		tell("launch", -1, &err);
	else
		printf("launch: status %d\n", status);
	fflush(stdout);
	nsrun_request_free(r);
}

static void
do_many(int n, const char *id, char *words)
{
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct nsrun_request *r = read_request(words, &err);
	int good = 0;

	while (r && good < n && launch(find(id)->session, r, NULL, &err) == 0)
		good++;
	printf("many: %d of %d\n", good, n);
	if (good < n)
		nsrun_err_print(STDOUT_FILENO, "error", &err);
	fflush(stdout);
	nsrun_request_free(r);
}

static void
do_try(int n, const char *id, char *words)
{
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct nsrun_request *r = read_request(words, &err);
	int good = 0;

	for (int i = 0; r && i < n; i++) {
		struct nsrun_err failure = NSRUN_ERR_INIT;

		good += launch(find(id)->session, r, NULL, &failure) == 0;
	}
	printf("tried: %d of %d\n", good, n);
	fflush(stdout);
	nsrun_request_free(r);
}

struct job {
	pthread_t			thread;
	const struct nsrun_session	*session;
	const struct nsrun_request	*request;
	struct nsrun_err		err;
	int				status;
};

static void *
work(void *arg)
{
	struct job *job = arg;

	job->status = launch(job->session, job->request, NULL, &job->err);
	return NULL;
}

static void
do_threads(int n, const char *id, char *words)
{
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct nsrun_request *r = read_request(words, &err);
	struct job jobs[MAX_THREADS] = { 0 };
	int good = 0;

	for (int i = 0; i < n && i < MAX_THREADS; i++) {
		jobs[i].session = find(id)->session;
		jobs[i].request = r;
		if (pthread_create(&jobs[i].thread, NULL, work, &jobs[i]))
			die("pthread_create");
	}
	for (int i = 0; i < n && i < MAX_THREADS; i++) {
		pthread_join(jobs[i].thread, NULL);
		good += jobs[i].status == 0;
		if (jobs[i].err.step != NSRUN_STEP_NONE)
			nsrun_err_print(STDOUT_FILENO, "error", &jobs[i].err);
	}
	printf("threads: %d of %d\n", good, n);
	fflush(stdout);
	nsrun_request_free(r);
}

static void
do_register(const char *id, char *words)
{
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct nsrun_request *r = read_request(words, &err);
	struct nsrun_session *session = NULL;
	int rc = r ? nsrun_session_register(&session, id, r, &err) : -1;

	if (tell("register", rc, &err) == 0) {
		if (find(id)->n_users++ && find(id)->session != session)
			puts("another session of that id");
		find(id)->session = session;
	}
	nsrun_request_free(r);
}

static void
count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = -3;	/* the directory, "." and ".." */

	if (!dir)
		die("/proc/self/fd");
	while (readdir(dir))
		n++;
	closedir(dir);
	printf("fds: %d\n", n);
	fflush(stdout);
}

static void
do_line(char *line)
{
	struct nsrun_err err = NSRUN_ERR_INIT;
	char *verb = strsep(&line, " ");
	char *first = strcmp(verb, "!") ? strsep(&line, " ") : line;

	if (!strcmp(verb, "!")) {
		if (system(line) != 0)
			die(line);
	} else if (!strcmp(verb, "register")) {
		do_register(first, line);
	} else if (!strcmp(verb, "launch") || !strcmp(verb, "late")) {
		do_launch(first, line, *verb == 'l' && verb[2] == 't');
	} else if (!strcmp(verb, "many") || !strcmp(verb, "threads")) {
		char *id = strsep(&line, " ");

		(*verb == 'm' ? do_many : do_threads)(atoi(first), id, line);
	} else if (!strcmp(verb, "try")) {
		char *id = strsep(&line, " ");

		do_try(atoi(first), id, line);
	} else if (!strcmp(verb, "temp")) {
		const char *temp = nsrun_session_temp(find(first)->session);

		if (temp && setenv("SESSION_TEMP", temp, 1) < 0)
			die("setenv");
		printf("temp: %s\n", temp ? temp : "none");
		fflush(stdout);
	} else if (!strcmp(verb, "release")) {
		find(first)->n_users--;
		tell("release", nsrun_session_release(find(first)->session,
		    &err), &err);
	} else if (!strcmp(verb, "setenv")) {
		if (setenv(first, line, 1) < 0)
			die("setenv");
	} else if (!strcmp(verb, "fds")) {
		count_fds();
	} else {
		die(verb);
	}
}

int
main(int argc, char *argv[])
{
	FILE *script = argc == 2 ? fopen(argv[1], "re") : NULL;
	char line[4096];

	if (!script)
		die("host SCRIPT");
	while (fgets(line, sizeof line, script)) {
		line[strcspn(line, "\n")] = '\0';
		if (*line)
			do_line(line);
	}
	fclose(script);
	return 0;
}
