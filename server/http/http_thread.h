/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of an HTTP loop: it accepts, lets libmicrohttpd read and write, delivers notes and
 * watches the time. */
#pragma once

#include "base/core/error.h"

struct http;
struct http_loop;

/* Takes over `listen_fd`, and serves it on a thread of its own; on false, it is closed. */
CHECKED bool http_thread_create(struct http *http, unsigned number, int listen_fd,
                                struct http_loop **out, struct error *error);
/* From any thread: makes the thread close the listening socket, end standing streams with their
 * closing message, and close each connection after its next answer. Returns at once. */
void http_thread_drain(struct http_loop *loop);
/* Closes what is open and joins the thread; notes may still be posted until http_thread_destroy. */
void http_thread_stop(struct http_loop *loop);
void http_thread_destroy(struct http_loop *loop); /* NULL is fine */
