/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * oc-nsrun doctor: can this host sandbox, for this user, and what is missing?
 * Each check says what it found and, when that is bad, what an operator does.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/err_print.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/json.h"
#include "base/kernel.h"
#include "doctor.h"
#include "helper.h"
#include "host/request.h"
#include "host/trust.h"
#include "nsrun.h"
#include "plan/plan.h"
#include "run/probe.h"

static const char apparmor_remedy[] =
    "load the profile that is installed with oc-nsrun: apparmor_parser -r"
    " " APPARMORDIR "/oc-nsrun (or, for every program: sysctl"
    " kernel.apparmor_restrict_unprivileged_userns=0)";

void
doctor_tell(struct doctor *d, enum verdict verdict, const char *check,
    const char *found, const char *remedy)
{
	static const char *const words[] = {
		[OK] = "ok  ", [INFO] = "--  ", [FAIL] = "FAIL",
	};
	static const char *const json_words[] = {
		[OK] = "ok", [INFO] = "info", [FAIL] = "fail",
	};

	d->n_failed += verdict == FAIL;
	if (!d->json) {
		printf("%s  %s%s%s\n", words[verdict], check,
		    *found ? ": " : "", found);
		if (remedy)
			printf("      %s\n", remedy);
		return;
	}
	nsrun_json_open(&d->out, NULL, '{');
	nsrun_json_string(&d->out, "check", check);
	nsrun_json_string(&d->out, "verdict", json_words[verdict]);
	nsrun_json_string(&d->out, "found", found);
	nsrun_json_string(&d->out, "remedy", remedy);
	nsrun_json_close(&d->out, '}');
}

const char *
doctor_cause(const struct nsrun_err *err, char *buf, size_t size)
{
	const char *name = nsrun_errno_name(err->errnum);

	snprintf(buf, size, "%s%s%s%s%s", err->subject,
	    *err->subject ? ": " : "", err->call, name ? ": " : "",
	    name ? name : "");
	return buf;
}

static void
check_kernel(struct doctor *d)
{
	struct utsname name;

	if (nsrun_kernel_suffices(&name))
		doctor_tell(d, OK, "kernel", name.release, NULL);
	else
		doctor_tell(d, FAIL, "kernel", name.release,
		    "Linux 5.14 or newer is needed");
}

/* The settings that switch namespaces off, for all users or for most. */
static void
check_sysctls(struct doctor *d)
{
	char path[96], found[128];
	bool bad = false;

	for (int i = 0; i < NSRUN_N_NAMESPACES; i++) {
		snprintf(path, sizeof path,
		    "/proc/sys/user/max_%s_namespaces",
		    nsrun_namespaces[i].proc_name);
		if (nsrun_file_number(path) != 0)
			continue;
		bad = true;
		snprintf(found, sizeof found, "user.max_%s_namespaces is 0",
		    nsrun_namespaces[i].proc_name);
		doctor_tell(d, FAIL, "limits", found,
		    "raise it with sysctl; 15000 is a usual value");
	}
	if (!bad)
		doctor_tell(d, OK, "limits", "user.max_*_namespaces", NULL);
	if (geteuid() != 0 && nsrun_file_number(
	    "/proc/sys/kernel/unprivileged_userns_clone") == 0)
		doctor_tell(d, FAIL, "kernel.unprivileged_userns_clone", "0",
		    "sysctl kernel.unprivileged_userns_clone=1");
	if (nsrun_file_number("/proc/sys/kernel/"
	    "apparmor_restrict_unprivileged_userns") == 1)
		doctor_tell(d, INFO, "AppArmor", "restricts user namespaces to"
		    " programs with a profile", apparmor_remedy);
}

static const char *
namespace_remedy(uint64_t flag)
{
	if (flag == CLONE_NEWUSER)
		return nsrun_file_number("/proc/sys/kernel/"
		    "apparmor_restrict_unprivileged_userns") == 1 ?
		    apparmor_remedy : "in a container: allow user namespaces"
		    " (docker: --security-opt seccomp=unconfined, or a profile"
		    " that admits clone and unshare); on a host: see the limits"
		    " above";
	if (flag == CLONE_NEWNET)
		return "without it --network denied runs in the host's"
		    " namespace, sockets refused by the filter; to have it,"
		    " allow the loopback device (RTM_NEWLINK) in the"
		    " container's policy";
	return "the container's or the kernel's policy refuses it; a newer"
	    " kernel or another policy is needed";
}

static void
check_namespaces(struct doctor *d)
{
	char text[512], good[64] = "";

	for (int i = 0; i < NSRUN_N_NAMESPACES; i++) {
		struct nsrun_err err = NSRUN_ERR_INIT;
		uint64_t flag = nsrun_namespaces[i].flag;
		char check[32];

		if (nsrun_probe_namespaces(CLONE_NEWUSER | flag, &err) == 0) {
			strcat(good, *good ? " " : "");
			strcat(good, nsrun_namespaces[i].name);
			continue;
		}
		snprintf(check, sizeof check, "%s namespace",
		    nsrun_namespaces[i].name);
		doctor_tell(d, FAIL, check,
		    doctor_cause(&err, text, sizeof text),
		    namespace_remedy(flag));
		/* Without the first, every other fails for the same reason. */
		if (flag == CLONE_NEWUSER)
			break;
	}
	d->only_network_refused = nsrun_probe_only_network_refused();
	if (*good)
		doctor_tell(d, OK, "namespaces", good, NULL);
}

/* A whole launch: the mount calls, procfs, devpts, the filter, exec. */
static void
check_launch(struct doctor *d)
{
	static const char *const words[][2] = {
		{ "profile", "shell" }, { "stdin", "null" },
		{ "timeout", "20s" },
	};
	char *argv[] = { (char *)(uintptr_t)"true", NULL };
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct nsrun_request *request = nsrun_request_new();
	bool shared = d->only_network_refused;
	struct nsrun_plan *plan = NULL;
	struct nsrun_run *run = NULL;
	struct nsrun_result result = { .status = -1 };
	char text[512];
	int rc = request ? 0 : nsrun_err_nomem(&err, "request");

	for (size_t i = 0; rc == 0 && i < sizeof words / sizeof *words; i++)
		rc = nsrun_request_set(request, words[i][0], words[i][1], &err);
	if (request) {
		request->share_network = shared;
		request->probes = true;
	}
	if (rc == 0 && nsrun_request_set_command(request, argv, &err) == 0 &&
	    nsrun_plan_new(&plan, request, &err) == 0 &&
	    nsrun_start(&run, plan, &err) == 0)
		nsrun_wait(run, &result, &err);
	if (err.step != NSRUN_STEP_NONE)
		doctor_tell(d, FAIL, nsrun_step_name(err.step),
		    doctor_cause(&err, text, sizeof text),
		    nsrun_err_hint(&err));
	else if (result.status != 0)
		doctor_tell(d, FAIL, "launch", "true did not return 0", NULL);
	else
		doctor_tell(d, OK, "launch", shared ?
		    "mounts, procfs, filter, exec, in the"
		    " host's network namespace" :
		    "mounts, procfs, filter, exec", NULL);
	nsrun_run_free(run);
	nsrun_plan_free(plan);
	nsrun_request_free(request);
}

static void
check_optional(struct doctor *d)
{
	char text[64];
	int abi = nsrun_probe_landlock();

	if (nsrun_probe_seccomp())
		doctor_tell(d, OK, "seccomp", "filters", NULL);
	else
		doctor_tell(d, FAIL, "seccomp", "filters cannot be loaded",
		    "CONFIG_SECCOMP_FILTER is needed, and an outer filter must"
		    " admit seccomp(2)");
	snprintf(text, sizeof text, abi ? "ABI %d" : "absent", abi);
	doctor_tell(d, abi ? OK : INFO, "Landlock", text, NULL);
}

static void
check_installation(struct doctor *d)
{
	struct nsrun_err err = NSRUN_ERR_INIT;
	char path[PATH_MAX], text[512];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

	if (n < 0) {
		doctor_tell(d, FAIL, "installation",
		    "/proc/self/exe: unreadable",
		    "mount /proc");
		return;
	}
	path[n] = '\0';
	if (nsrun_trust_check(path, NSRUN_STEP_OPTION, &err) == 0)
		doctor_tell(d, OK, "installation", path, NULL);
	else
		doctor_tell(d, FAIL, "installation",
		    doctor_cause(&err, text, sizeof text),
		    "a host should run a copy that only root can replace: make"
		    " install as root (run itself works from here too)");
}

int
doctor_main(int argc, char *argv[])
{
	struct doctor d = { .out.out = stdout };
	struct nsrun_err err = NSRUN_ERR_INIT;

	d.json = argc == 2 && !strcmp(argv[1], "--json");
	if (argc > 1 + d.json) {
		nsrun_err_rule(&err, NSRUN_STEP_OPTION,
		    "is no option of doctor", argv[1], NULL);
		nsrun_err_print(STDERR_FILENO, "oc-nsrun", &err);
		return HELPER_FAILED;
	}
	if (d.json) {
		nsrun_json_open(&d.out, NULL, '{');
		nsrun_json_number(&d.out, "v", 1);
		nsrun_json_open(&d.out, "checks", '[');
	}
	check_kernel(&d);
	check_sysctls(&d);
	check_namespaces(&d);
	check_optional(&d);
	doctor_cgroup_check(&d);
	check_launch(&d);
	check_installation(&d);
	doctor_session_check(&d);
	if (d.json) {
		nsrun_json_close(&d.out, ']');
		doctor_session_put(&d);
		nsrun_json_bool(&d.out, "healthy", d.n_failed == 0);
		nsrun_json_close(&d.out, '}');
		putchar('\n');
	}
	doctor_session_deinit(&d);
	return fflush(stdout) == 0 && d.n_failed == 0 ? 0 : 1;
}
