/* SPDX-License-Identifier: Apache-2.0 */
/* What exchange.c, exchange_*.c and http_thread.c share. Private to http/. */
#pragma once

#include <microhttpd.h>

struct exchange;
struct http_loop;

/* For http_thread.c. libmicrohttpd calls the first two functions, with the loop as their context;
 * the loop calls the others. */
enum MHD_Result exchange_serve(void *loop, struct MHD_Connection *mhd, const char *target,
                               const char *verb, const char *version, const char *upload,
                               size_t *upload_size, void **slot);
void exchange_completed(void *loop, struct MHD_Connection *mhd, void **slot,
                        enum MHD_RequestTerminationCode code);
/* Call it when the exchange's `keep_alive` expires: puts a comment into the stream, and closes the
 * connection if the client has read nothing for too long. */
void exchange_keep_alive(struct exchange *exchange);
/* Call it when the client has disconnected, or is to be treated as if it had. */
void exchange_abandon(struct exchange *exchange);
/* Call it when the server is stopping: ends a long-lived stream, after its closing message if it
 * has one. A stream that a worker begins later is ended by exchange_update_long_lived. */
void exchange_end_long_lived(struct exchange *exchange);
/* Call it when keys changed or one expired: closes the connection if the caller is no longer
 * authorized. */
void exchange_check_key(struct exchange *exchange);

/* For exchange_*.c, on the loop's thread. */
struct exchange *exchange_create(struct http_loop *loop, struct MHD_Connection *mhd,
                                 const char *verb);
/* Call it when the client of a suspended exchange has stopped sending or disconnected. */
void exchange_hang_up(struct exchange *exchange);
/* Schedules a comment for a client that has stopped sending, to find out whether it has
 * disconnected. */
void exchange_probe(struct exchange *exchange);
/* Call it after `serve` of the request's route has returned, and after the worker is done. If the
 * answer is now a long-lived stream, the exchange is no longer counted as a request in flight, and
 * its request is freed; if the server is stopping, the stream is ended instead. */
void exchange_update_long_lived(struct exchange *exchange);
void exchange_suspend(struct exchange *exchange);
void exchange_resume(struct exchange *exchange);
enum MHD_Result exchange_queue_reply(struct exchange *exchange);
enum MHD_Result exchange_queue_stream(struct exchange *exchange);
/* Queues `response` with the headers of the reply, and releases it. */
enum MHD_Result exchange_queue_response(struct exchange *exchange, struct MHD_Response *response,
                                        unsigned status);
