/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * File descriptors: who owns one, and how it changes hands.
 *
 * A descriptor has one owner at a time; -1 is the only way to write "none".
 *
 *	int fd		is borrowed: the callee does not close it;
 *	int *fd		is taken: on success the callee owns it and *fd is -1;
 *	a returned fd	belongs to the caller and is close-on-exec.
 *
 * Nothing here allocates, so all of it may be used between clone and exec.
 */
#ifndef NSRUN_BASE_FD_H
#define NSRUN_BASE_FD_H

/* nsrun_autoclose int fd = open(...); closes fd when it goes out of scope. */
#define nsrun_autoclose __attribute__((cleanup(nsrun_fd_close)))

/* Close *fd, if there is one, and set it to -1. Keeps errno. */
void nsrun_fd_close(int *fd);

/* Give up ownership: return *fd and set it to -1. */
int nsrun_fd_take(int *fd);

/*
 * Move *fd to a number above 2, so that it is not in the way of what becomes
 * the command's stdio. Returns 0, or -1 with errno set and *fd unchanged.
 */
int nsrun_fd_raise(int *fd);

/*
 * Close every descriptor from 3 up but the n in keep, which is sorted
 * ascending. Returns 0, or -1 with errno set.
 */
int nsrun_fd_close_others(const int *keep, unsigned int n);

/*
 * "self/fd/N", to be used below /proc: the way to what an O_PATH descriptor
 * stands for. Returns buf.
 */
enum { NSRUN_FD_PATH = 24 };
const char *nsrun_fd_path(char buf[NSRUN_FD_PATH], int fd);

/*
 * The same pipe or terminal as an open file of our own, that never blocks: on
 * the caller's O_NONBLOCK must not be set, others use it too. flags is O_RDONLY
 * or O_WRONLY. Returns a descriptor, or -1 where it is neither, or is not ours
 * to open again.
 */
int nsrun_fd_reopen_nonblock(int fd, int flags);

/* Is fd an open socket? Keeps errno. */
int nsrun_fd_is_socket(int fd);

#endif
