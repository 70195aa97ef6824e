/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading small files whole. Parent only. */
#ifndef NSRUN_BASE_FILE_H
#define NSRUN_BASE_FILE_H

#include <stddef.h>
#include <stdint.h>

/*
 * The bytes of `path`, followed by a NUL, at most max of them; the caller
 * frees. NULL with errno set: EFBIG when there are more.
 */
char *nsrun_file_read(const char *path, size_t max);
/* The same, and how many they are. */
char *nsrun_file_read_whole(const char *path, size_t max, size_t *size);
/* The same of an open descriptor, to its end; *size without the NUL. */
char *nsrun_file_read_fd(int fd, size_t max, size_t *size);

/* The decimal number in a file of /proc or /sys; -1 when it is not there. */
int64_t nsrun_file_number(const char *path);

#endif
