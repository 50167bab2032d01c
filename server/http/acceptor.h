/* SPDX-License-Identifier: Apache-2.0 */
/* Accepts the connections of one HTTP thread from its listening socket, within the limits on all
 * connections and on those of each address. While there are as many connections as allowed in all,
 * new ones wait in the kernel until others close, and open ones that wait for their client are
 * closed to make room: first those of unknown clients, on which no request was authenticated. A
 * connection from an address that has as many as allowed is closed at once. */
#pragma once

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>

struct http_loop;
struct note;

/* Adds the listening socket to the loop's epoll. False: errno says why. */
bool acceptor_watch(struct http_loop *loop);
void acceptor_close(struct http_loop *loop);
/* In each turn of the loop: accepts waiting connections. */
void acceptor_run(struct http_loop *loop);
/* In each turn of the loop: continues after a pause. */
void acceptor_resume(struct http_loop *loop, int64_t now_ns);
/* Called by libmicrohttpd when a connection begins and ends; the context is the loop. */
void acceptor_notify(void *loop, struct MHD_Connection *mhd, void **slot,
                     enum MHD_ConnectionNotificationCode code);
/* The function of the loop's room_note, by which the acceptor of another loop asks for room. */
void acceptor_make_room(struct note *room_note);
