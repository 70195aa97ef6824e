/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of signals, which not every C library has. */
#include <signal.h>
#include <stddef.h>

#include "nsjail.h"

#define NAME(signal) [signal] = #signal

static const char *const names[] = {
	NAME(SIGHUP), NAME(SIGINT), NAME(SIGQUIT), NAME(SIGILL), NAME(SIGTRAP),
	NAME(SIGABRT), NAME(SIGBUS), NAME(SIGFPE), NAME(SIGKILL), NAME(SIGUSR1),
	NAME(SIGSEGV), NAME(SIGUSR2), NAME(SIGPIPE), NAME(SIGALRM),
	NAME(SIGTERM), NAME(SIGSTKFLT), NAME(SIGCHLD), NAME(SIGCONT),
	NAME(SIGSTOP), NAME(SIGTSTP), NAME(SIGTTIN), NAME(SIGTTOU),
	NAME(SIGURG), NAME(SIGXCPU), NAME(SIGXFSZ), NAME(SIGVTALRM),
	NAME(SIGPROF), NAME(SIGWINCH), NAME(SIGIO), NAME(SIGPWR), NAME(SIGSYS),
};

const char *
nsjail_signal_name(int signal)
{
	size_t i = (size_t)signal;

	return i < sizeof names / sizeof *names && names[i] ? names[i] :
	    i >= 32 && i <= 64 ? "SIGRT" : "SIG?";
}
