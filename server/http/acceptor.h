/* SPDX-License-Identifier: Apache-2.0 */
/* Accepts connections for one HTTP thread from its listening socket. The number of connections is
 * limited, both in total and for each client address. At the total limit, new connections wait in
 * the kernel until others close. To make room, open connections that wait for their client are
 * closed: first those of unknown clients, on which no request was authenticated. If an address has
 * reached its own limit, a new connection from it is closed at once. */
#pragma once

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>

struct http_loop;
struct note;

/* Adds the listening socket to the loop's epoll. False: errno says why. */
bool acceptor_watch(struct http_loop *loop);
void acceptor_close(struct http_loop *loop);
/* Call it in each turn of the loop: accepts waiting connections. */
void acceptor_run(struct http_loop *loop);
/* Call it in each turn of the loop: accepts connections again when a pause is over. */
void acceptor_resume(struct http_loop *loop, int64_t now_ns);
/* Called by libmicrohttpd when a connection begins and ends; the context is the loop. */
void acceptor_notify(void *loop, struct MHD_Connection *mhd, void **slot,
                     enum MHD_ConnectionNotificationCode code);
/* Delivers a loop's room_note: another loop's acceptor has asked this loop to make room. */
void acceptor_make_room(struct note *room_note);
