/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Relays: bytes between the caller's descriptors and the sandbox's pipes.
 *
 * The caller's descriptors may share their open file with other processes, so
 * O_NONBLOCK is never set on them: pipes and terminals are opened again. Where
 * that is refused (another user's), at most PIPE_BUF bytes are written after
 * poll(2) said that there is room, which pipe(7) promises not to block.
 */
#ifndef NSRUN_RUN_RELAY_H
#define NSRUN_RUN_RELAY_H

#include <poll.h>

#include "run/run.h"

/* From now on no read or write of it blocks, as far as that can be. */
void nsrun_relay_unblock(struct nsrun_relay *relay);
/* Two entries for poll: from, to; -1 where there is nothing to wait for. */
void nsrun_relay_poll(const struct nsrun_relay *relay, struct pollfd fds[2]);
/* Move what poll said can move. */
void nsrun_relay_move(struct nsrun_relay *relay, const struct pollfd fds[2]);
/* Nothing more will come, nothing is left to write. */
bool nsrun_relay_done(const struct nsrun_relay *relay);
void nsrun_relay_deinit(struct nsrun_relay *relay);

#endif
