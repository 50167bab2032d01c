/* SPDX-License-Identifier: Apache-2.0 */
/* Puts the guards of connections (request_guard.h) between their sockets and libmicrohttpd. */
#pragma once

struct http_loop;

/* From now on, everything that this thread receives on the loop's connections passes through their
 * guards. */
void http_reader_begin(struct http_loop *loop);
