/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions of the legacy era, which begin with `initialize`. They are in memory and in the store,
 * so that clients can continue them after a restart of the server. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "handlers/tool.h"
#include "store/ledger/principals.h"

struct client_request;
struct sse_queue;
struct rate_limit;
struct sessions;
struct stream;

/* The part of a call by which notifications/cancelled can find it. */
struct session_call {
    const char *id; /* as JSON text; NULL: none */
    atomic_bool cancelled;
    struct session_call *next; /* in the session's list of running calls */
};

#define SESSION_LOG_LEVEL SEVERITY_INFO /* the level until the client sets another */

struct session {
    struct store *store;
    char id[ID_SIZE];
    char principal[64];
    const char *version;     /* from the table of legacy revisions */
    char client[128];        /* "name/version" */
    char *capabilities;      /* JSON */
    struct stream *standing; /* the stream that the client's GET reads */
    atomic_int log_level;    /* an enum severity: the lowest that is sent to the client */

    /* for session.c and session_streams.c */
    struct session *next; /* in its bucket */
    atomic_int references;
    atomic_int_fast64_t last_seen_ms; /* when the session was last used */
    int64_t stored_ms;                /* the last_seen_ms that is in the store */
    pthread_mutex_t lock;             /* protects the rest */
    bool over;
    struct session_call *running; /* calls that can be cancelled */
    struct stream **streams;      /* streams of calls that are not answered yet */
    size_t stream_count;
    uint64_t *waiting; /* digests of messages sent while nobody read the standing stream */
    size_t waiting_count;
    int64_t waiting_since_ms;
    /* client_request.c: requests to the client that wait for its response */
    struct client_request *requests;
};

struct session_limits {
    const char *const *versions; /* revisions of the protocol that have sessions; ends with NULL */
    size_t total, per_principal;
    int64_t idle_ms; /* sessions that are unused for longer are removed */
    /* limits the stored bytes of each principal's events; borrowed; NULL: no limit */
    struct rate_limit *kept_bytes;
};
/* Loads the stored sessions that were used within the last idle_ms, if their revision is known. */
CHECKED bool sessions_create(struct store *store, const struct session_limits *limits,
                             struct sessions **out, struct error *error);
void sessions_destroy(struct sessions *sessions); /* NULL is fine */
size_t sessions_count(struct sessions *sessions);
/* Call it about once a minute: removes sessions that were idle for too long and events that are too
 * old, and stores when the other sessions were last used. `now_ms` is the time as of which ages are
 * computed (store/ledger/plausible_time.h). */
void sessions_tidy(struct sessions *sessions, int64_t now_ms);

/* Creates a session, and blocks until it is stored. If the principal, or all principals together,
 * already have as many sessions as a limit allows, one of these is removed: one that is not in use,
 * if there is one; of several, the one unused for longest. *out: a reference. */
CHECKED bool session_begin(struct sessions *sessions, const char *principal, const char *version,
                           const char *client, const char *capabilities, struct session **out,
                           struct error *error);
/* Any principal's session, not marked as used, with a reference; NULL if it does not exist. */
struct session *sessions_find(struct sessions *sessions, const char *id);
/* A principal's own session, marked as used, with a reference; NULL if the principal has no session
 * with this id. */
struct session *session_find(struct sessions *sessions, const char *id, const char *principal);
struct session *session_retain(struct session *session);
void session_release(struct session *session); /* NULL is fine */
/* Stores, a little later, which event of the standing stream a connection received last. */
void session_note_received(struct session *session, int64_t sequence);
bool session_is_over(struct session *session); /* ended, or removed */
/* Ends the session and its standing stream, and cancels its calls. Waits for the store. `why` is
 * for the audit log. False: the session has ended, but is still stored. */
CHECKED bool session_end(struct sessions *sessions, struct session *session, const char *why,
                         struct error *error);

/* Whether the session's revision of MCP numbers the events of streams, so that they can be resumed.
 */
bool session_keeps_streams(const struct session *session);
/* Whether the session's revision begins streams with an event that has no message. */
bool session_primes_streams(const struct session *session);
/* Sends one JSON message on the session's standing stream. While nobody reads the stream, the
 * message waits in the store (only if session_keeps_streams), unless the same message is already
 * waiting. */
void session_notify(struct session *session, const char *json, size_t length);
/* The same for every session. */
void sessions_notify(struct sessions *sessions, const char *json, size_t length);
/* From now on this connection carries the standing stream; false for the same reasons as
 * stream_attach. */
bool session_attach(struct session *session, int64_t last, struct sse_queue *sse_queue);
/* The same, beginning with what followed event `after`; false for the same reasons as
 * stream_resume. */
CHECKED bool session_resume(struct session *session, int64_t after, struct sse_queue *sse_queue,
                            struct error *error);
/* Streams of calls that can be resumed. session_find_stream returns a reference, or NULL if there
 * is no such stream. */
void session_add_stream(struct session *session, struct stream *stream);
void session_remove_stream(struct session *session, const struct stream *stream);
struct stream *session_find_stream(struct session *session, const char *id);
/* Calls that notifications/cancelled can find by their id, given as JSON text. */
void session_add_call(struct session *session, struct session_call *call);
void session_remove_call(struct session *session, struct session_call *call);
void session_cancel_call(struct session *session, const char *id);
