/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions, which begin with `initialize`. Only the legacy era of MCP (the revisions before
 * 2026-07-28) has them. They are kept in memory and in the store, so that clients can continue them
 * after a restart of the server. */
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

/* The part of a call that notifications/cancelled needs in order to find and cancel the call. */
struct session_call {
    const char *id; /* the call's JSON-RPC id, as JSON text; NULL: it has none */
    atomic_bool cancelled;
    struct session_call *next; /* in the session's list of running calls */
};

#define SESSION_LOG_LEVEL SEVERITY_INFO /* log_level until the client sets another */

struct session {
    struct store *store;
    char id[ID_SIZE];
    char principal[64];
    const char *version;   /* points into the table of legacy revisions */
    char client[128];      /* "name/version" */
    char *capabilities;    /* of the client, as JSON text */
    struct stream *stream; /* the long-lived stream that the client's GET reads */
    atomic_int log_level;  /* enum severity: log messages below it are not sent */

    /* For session.c and session_streams.c: */
    struct session *next; /* the next session in the same bucket */
    atomic_int references;
    atomic_int_fast64_t last_seen_ms; /* when the session was last used */
    int64_t stored_ms;                /* the last_seen_ms that is in the store */
    pthread_mutex_t lock;             /* protects the members below */
    bool over;                        /* ended, or removed to make room */
    struct session_call *running;     /* running calls that can be cancelled */
    struct stream **streams;          /* resumable streams of calls that have not ended yet */
    size_t stream_count;
    /* digests of the messages that wait until somebody reads the long-lived stream */
    uint64_t *waiting;
    size_t waiting_count;
    int64_t waiting_since_ms; /* when the first of them began to wait */
    /* For client_request.c: requests to the client that wait for its response. */
    struct client_request *requests;
};

struct session_limits {
    const char *const *versions; /* revisions of the protocol that have sessions; ends with NULL */
    size_t total;                /* how many sessions all principals together can have */
    size_t per_principal;        /* how many sessions each principal can have */
    int64_t idle_ms;             /* sessions that are unused for longer are removed */
    /* limits the stored bytes of each principal's events; borrowed; NULL: no limit */
    struct rate_limit *kept_bytes;
};
/* Loads the stored sessions that were used within the last idle_ms, except those with a revision of
 * MCP that this program does not know. */
CHECKED bool sessions_create(struct store *store, const struct session_limits *limits,
                             struct sessions **out, struct error *error);
void sessions_destroy(struct sessions *sessions); /* NULL is fine */
size_t sessions_count(struct sessions *sessions);
/* To be called about once a minute. Removes sessions that were idle for too long and events that
 * are too old, and stores when the other sessions were last used. `now_ms` is the time for
 * computing ages, from store/ledger/plausible_time.h. */
void sessions_tidy(struct sessions *sessions, int64_t now_ms);

/* Creates a session, and blocks until it is stored. If the limit for this principal or the limit
 * for all principals together is already reached, one of the sessions that count toward it is
 * removed: preferably one that is not in use, and among several candidates the one that was used
 * least recently. *out is a reference. */
CHECKED bool session_begin(struct sessions *sessions, const char *principal, const char *version,
                           const char *client, const char *capabilities, struct session **out,
                           struct error *error);
/* Finds a session of any principal, and does not mark it as used. Returns a reference, or NULL if
 * there is no session with this id. */
struct session *sessions_find(struct sessions *sessions, const char *id);
/* Finds one of the principal's own sessions, and marks it as used. Returns a reference, or NULL if
 * the principal has no session with this id. */
struct session *session_find(struct sessions *sessions, const char *id, const char *principal);
struct session *session_retain(struct session *session);
void session_release(struct session *session); /* NULL is fine */
/* Stores, within about a second, the number of the newest event that was received on the long-lived
 * stream. */
void session_note_received(struct session *session, int64_t sequence);
bool session_is_over(struct session *session); /* ended, or removed */
/* Ends the session and its long-lived stream, and cancels its calls. Waits for the store. `why` is
 * for the audit log. False: the session has ended, but is still stored. */
CHECKED bool session_end(struct sessions *sessions, struct session *session, const char *why,
                         struct error *error);

/* Whether the session's revision of MCP numbers the events of streams, so that clients can resume
 * the streams. */
bool session_keeps_streams(const struct session *session);
/* Whether, in the session's revision of MCP, streams begin with an event that has no message. */
bool session_primes_streams(const struct session *session);
/* Sends one JSON message on the session's long-lived stream. While nobody reads the stream, the
 * message waits in the store, unless the same message is already waiting. If session_keeps_streams
 * is false, the message is lost instead. */
void session_notify(struct session *session, const char *json, size_t length);
/* Does the same for every session. */
void sessions_notify(struct sessions *sessions, const char *json, size_t length);
/* Moves the long-lived stream to this connection, as stream_attach does, and returns false for the
 * same reason. */
bool session_attach(struct session *session, int64_t last, struct sse_queue *sse_queue);
/* Moves the long-lived stream as stream_resume does: the stored events after number `after` are
 * sent first. Fails for the same reasons. */
CHECKED bool session_resume(struct session *session, int64_t after, struct sse_queue *sse_queue,
                            struct error *error);
/* The next three functions manage the streams on which calls are answered, so that the client can
 * resume these streams. session_find_stream returns a reference, or NULL if there is no such
 * stream. */
void session_add_stream(struct session *session, struct stream *stream);
void session_remove_stream(struct session *session, const struct stream *stream);
struct stream *session_find_stream(struct session *session, const char *id);
/* The next three functions manage the calls that notifications/cancelled can cancel. `id` is the
 * call's id as JSON text. */
void session_add_call(struct session *session, struct session_call *call);
void session_remove_call(struct session *session, struct session_call *call);
void session_cancel_call(struct session *session, const char *id);
