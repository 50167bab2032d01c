/* SPDX-License-Identifier: Apache-2.0 */
/* What exchange.c, exchange_*.c and http_thread.c share. Private to http/. */
#pragma once

#include <microhttpd.h>

struct exchange;
struct http_loop;

/* For http_thread.c: the functions that libmicrohttpd calls (their context is the loop), and those
 * by which the loop informs an exchange. */
enum MHD_Result exchange_serve(void *loop, struct MHD_Connection *mhd, const char *target,
                               const char *verb, const char *version, const char *upload,
                               size_t *upload_size, void **slot);
void exchange_completed(void *loop, struct MHD_Connection *mhd, void **slot,
                        enum MHD_RequestTerminationCode code);
void exchange_keep_alive(struct exchange *exchange);
/* The client disconnected, or is to be treated as if it had. */
void exchange_abandon(struct exchange *exchange);
/* The server is stopping: ends a standing stream, with its closing message if it has one. A stream
 * that a worker begins later is ended by exchange_update_standing. */
void exchange_end_standing(struct exchange *exchange);
/* Keys changed, or one expired: closes the connection if the caller is no longer allowed. */
void exchange_check_key(struct exchange *exchange);

/* For exchange_*.c, on the loop's thread. */
struct exchange *exchange_create(struct http_loop *loop, struct MHD_Connection *mhd,
                                 const char *verb);
/* The exchange is suspended, and its client has stopped sending, or disconnected. */
void exchange_hang_up(struct exchange *exchange);
/* Finds out soon whether a client that stopped sending still reads its stream. */
void exchange_probe(struct exchange *exchange);
/* Call it when a request was served, and when its worker is done. If the exchange is now a standing
 * stream, it is no longer counted among the requests in flight, and its request is freed; while the
 * server stops, the stream ends instead. */
void exchange_update_standing(struct exchange *exchange);
void exchange_suspend(struct exchange *exchange);
void exchange_resume(struct exchange *exchange);
enum MHD_Result exchange_queue_reply(struct exchange *exchange);
enum MHD_Result exchange_queue_stream(struct exchange *exchange);
/* Queues `response` with the headers of the reply, and releases it. */
enum MHD_Result exchange_queue_response(struct exchange *exchange, struct MHD_Response *response,
                                        unsigned status);
