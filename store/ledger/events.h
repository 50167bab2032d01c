/* SPDX-License-Identifier: Apache-2.0 */
/* The events of streams, and the calls that are answered with streams, so that a client can resume
 * a stream after losing its connection. The events of each stream are numbered. */
#pragma once

#include "base/core/random.h"
#include "store/ledger/change.h"

struct event_row {
    int64_t sequence; /* the event's number */
    char *frame;      /* the event's data, which is JSON; heap */
};
#define EVENTS_PER_STREAM 256
#define EVENTS_KEPT_MS (10 * 60 * 1000)
#define EVENT_STREAM_KEY_SIZE (ID_SIZE + 24)
/* Writes the key under which a session's stream is stored: `key` in event_add and event_list. */
void event_stream_key(const char *session, const char *stream, char out[EVENT_STREAM_KEY_SIZE]);
/* Queues an event, which is written within about a second, together with others; if writing fails,
 * that is logged. The caller numbers the events of a stream in ascending order. The newest
 * EVENTS_PER_STREAM of each stream are kept. BUSY: too many rows are waiting to be written, or the
 * store is being closed. */
CHECKED bool event_add(struct store *store, const char *key, int64_t sequence, const char *frame,
                       int64_t now_ms, struct error *error);
/* Waits until the events added so far are stored, and lists at most `limit` of the stream's events
 * whose numbers are greater than `after`, in ascending order. Free with event_rows_free. */
CHECKED bool event_list(struct store *store, const char *key, int64_t after, size_t limit,
                        struct event_row **out, size_t *count, struct error *error);
void event_rows_free(struct event_row *rows, size_t count);
/* Deletes the events older than EVENTS_KEPT_MS, the calls that ended longer ago than that, and the
 * calls that began more than a day ago and have not ended. Called once a minute. */
CHECKED bool events_expire(struct store *store, int64_t now_ms, struct error *error);

/* A session's call that is answered with a stream. */
struct event_call {
    char *message_id;    /* the JSON-RPC id of the call, as JSON; heap */
    char request_id[40]; /* as in the log and the audit log */
    int64_t created_ms;
    /* 0: the call is still running, or the server was killed before it stored the call's end. */
    int64_t ended_ms;
    int64_t sequence; /* the number of the stream's newest event; 0: no event is kept */
};
/* When this returns true, the call is on disk, so that a client can resume its stream even after
 * the server restarts. Nothing is stored if the session has ended. */
CHECKED bool event_call_begin(struct store *store, const char *session, const char *stream,
                              const char *message_id, const char *request_id, int64_t now_ms,
                              struct error *error);
/* Records that the call has ended. The record is queued like an event, with the same BUSY. */
CHECKED bool event_call_end(struct store *store, const char *session, const char *stream,
                            int64_t now_ms, struct error *error);
/* Finds the call of a stream. The caller frees out->message_id. */
CHECKED bool event_call_find(struct store *store, const char *session, const char *stream,
                             struct event_call *out, bool *found, struct error *error);
/* Finds the job that the call started or changed, according to its audit row; "": none. */
CHECKED bool event_call_job(struct store *store, const struct event_call *call, char job[ID_SIZE],
                            struct error *error);
