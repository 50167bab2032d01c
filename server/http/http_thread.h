/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of an HTTP loop: it accepts connections, lets libmicrohttpd read and write, delivers
 * notes and watches deadlines. */
#pragma once

#include "base/core/error.h"

struct http;
struct http_loop;

/* Takes over `listen_fd`, and serves its connections on a new thread, which is named after
 * `number`. False: `listen_fd` was closed. */
CHECKED bool http_thread_create(struct http *http, unsigned number, int listen_fd,
                                struct http_loop **out, struct error *error);
/* From any thread: makes the thread close the listening socket, end long-lived streams after their
 * closing messages, and close each connection after its next answer. Returns at once. */
void http_thread_drain(struct http_loop *loop);
/* Closes all connections and joins the thread. Notes can still be posted until
 * http_thread_destroy. */
void http_thread_stop(struct http_loop *loop);
void http_thread_destroy(struct http_loop *loop); /* NULL is fine */
