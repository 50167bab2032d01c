/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the connections of one HTTP thread from its listening socket, within the caps on all of
 * them and on each address. Where a cap or the limit of descriptors is reached, new ones wait in
 * the kernel until others close, and those that only wait are closed for them: strangers first. */
#pragma once

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>

struct http_loop;
struct note;

/* Watches the socket with the loop's epoll; false with errno. */
bool acceptor_watch(struct http_loop *loop);
void acceptor_close(struct http_loop *loop);
/* Each turn: takes what waits. */
void acceptor_run(struct http_loop *loop);
/* Each turn: goes on after a pause. */
void acceptor_resume(struct http_loop *loop, int64_t now_ns);
/* What libmicrohttpd calls when a connection begins and ends; the context is the loop. */
void acceptor_notify(void *loop, struct MHD_Connection *mhd, void **slot,
                     enum MHD_ConnectionNotificationCode code);
/* What another loop's acceptor asks for by the loop's room_note. */
void acceptor_make_room(struct note *room_note);
