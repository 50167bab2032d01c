/* SPDX-License-Identifier: Apache-2.0 */
/* One JSON-RPC message and the answer to it, for both protocol eras (enum era). */
#pragma once

#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/core/text.h"
#include "handlers/tool.h"
#include "server/http/public_url.h"
#include "server/streams/session.h"

struct exchange;
struct multi_round;
struct mcp_server;
struct stream;

/* The protocol eras. ERA_LEGACY: the MCP revisions up to 2025-11-25, which have sessions.
 * ERA_MODERN: revision 2026-07-28. The values are the bits of method.eras. */
enum era { ERA_LEGACY = 1, ERA_MODERN = 2 };

enum {
    RPC_PARSE_ERROR = -32700,
    RPC_INVALID_REQUEST = -32600,
    RPC_METHOD_NOT_FOUND = -32601,
    RPC_INVALID_PARAMS = -32602,
    RPC_INTERNAL = -32603,
    RPC_REFUSED = -32000, /* refused by the transport, for example because a session is needed */
    RPC_SESSION_NOT_FOUND = -32001,
    RPC_RESOURCE_NOT_FOUND = -32002, /* legacy only */
    RPC_HEADER_MISMATCH = -32020,
    RPC_MISSING_CAPABILITY = -32021,
    RPC_UNSUPPORTED_VERSION = -32022,
};

#define RPC_ID_LIMIT 1024 /* maximum length in bytes of an id that is a string */

enum rpc_kind { RPC_REQUEST, RPC_NOTIFICATION, RPC_RESPONSE, RPC_BROKEN };

struct rpc;

/* A row of the table of methods (methods.h). */
struct method {
    const char *name;
    unsigned eras;            /* the eras that have the method */
    bool notification;        /* the method is a notification: it gets no answer */
    bool cacheable;           /* clients are told how long to cache its result (2026-07-28) */
    unsigned ttl_ms;          /* how long clients may cache its result; 0: not at all */
    enum placement placement; /* where run() is called, unless prepare() changes it */
    bool long_lived;          /* its answer is a long-lived stream */
    const char *named_by;     /* the parameter that the header Mcp-Name repeats; NULL: none */
    /* Optional: called on the HTTP thread before run(); can change rpc->placement. False: rpc_fail
     * was called. */
    bool (*prepare)(struct rpc *rpc);
    /* Adds the result's members to rpc->result. False: rpc_fail was called. */
    bool (*run)(struct rpc *rpc);
};

struct rpc {
    struct mcp_server *server;
    struct exchange *exchange;
    struct stream *stream; /* the stream on which the message is answered; NULL: none */
    enum era era;
    enum rpc_kind kind;
    const char *version;         /* the protocol revision; static; NULL: not known (yet) */
    struct session *session;     /* a reference to the session of a legacy client; NULL: none */
    const char *name;            /* the method's name as requested; borrowed from the message */
    const struct method *method; /* NULL: unknown, or nothing is to be run */
    const struct tool *tool;     /* the tool that tools/call names; NULL: unknown, or none */
    char *tool_sets;             /* names of the sets and tools that tools/list is to list */
    enum placement placement;
    const json_t *params;   /* NULL or an object; borrowed from the message */
    const json_t *response; /* the message, if it is an RPC_RESPONSE; borrowed; NULL: it is not */
    const json_t *meta;     /* params._meta; NULL or an object; borrowed from the message */
    json_t *checked;        /* the tool's arguments that tool_check accepted; NULL: none */
    /* 2026-07-28: the questions to the client, and the client's answers; NULL: none */
    struct multi_round *multi_round;
    char *id;                /* the message's id, as JSON text; NULL: it has none or a bad one */
    char *progress_token;    /* the progress token as JSON text; NULL: none */
    double progress;         /* the progress that was sent last; -1: none yet */
    bool wants_logs;         /* 2026-07-28: the client wants log messages */
    enum severity log_level; /* the lowest severity that the client wants */
    /* the address at which the client reaches the pages; "": not known */
    char base_url[PUBLIC_URL_SIZE];
    char client[128]; /* "name/version", for the audit log */

    struct session_call call; /* its `id` is the `id` above */

    struct text result;      /* the members of the result object */
    const char *result_type; /* static; NULL: "complete" */
    const char *error_kind;  /* kind of a failed tool's error, for the result's _meta; NULL: none */
    bool describes_server;   /* the answer describes the server in full */
    bool silent;    /* no response is written: a stream answers, or the call was cancelled */
    int error_code; /* the code of an error; 0: a result */
    unsigned http_status;
    char error_message[480];
    json_t *error_data; /* NULL: none */
};

/* Reads one message into `rpc`, in which only server, exchange and era may already be set. The
 * message is borrowed: it must outlive `rpc`. */
void rpc_read(struct rpc *rpc, const json_t *message);
void rpc_finish(struct rpc *rpc); /* frees all that `rpc` owns, except multi_round */

/* Makes the answer an error; returns false. */
bool rpc_fail(struct rpc *rpc, int code, unsigned http_status, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same for an error from a handler; the error's kind determines the code. */
bool rpc_fail_with(struct rpc *rpc, const struct error *error);
/* The same for a failure of the server itself, which is also logged; `what` says what failed. If
 * `error` is BUSY, the client gets the error's message; otherwise, only the request's id. */
bool rpc_fail_fault(struct rpc *rpc, const char *what, const struct error *error);
/* Writes the whole response, result or error, in the form of its era. */
void rpc_write(const struct rpc *rpc, struct text *out);
/* Writes a progress notification with the value rpc->progress, as JSON. If `total` is 0, the total
 * is not known; if `message` is NULL or "", there is no message. */
void rpc_write_progress(const struct rpc *rpc, double total, const char *message, struct text *out);

/* Whether the call should stop or, if it has not begun, not begin. This is so if the client sent
 * notifications/cancelled, the session has ended, the server is stopping, or the caller's key is no
 * longer valid; in the modern era, also if the client has disconnected. `rpc` is a struct rpc. Can
 * be called on any thread. */
bool rpc_is_cancelled(void *rpc);
const json_t *rpc_meta(const struct rpc *rpc); /* params._meta; NULL: there is none */
/* A content block of type resource_link, for an HTML page or file. New reference. */
json_t *rpc_link_block(const char *name, const char *uri);
/* An id or a progress token as JSON text (heap); NULL: it is neither an integer nor a string
 * of at most RPC_ID_LIMIT bytes. */
char *rpc_token(const json_t *token);
/* Writes the name and version of an Implementation object as "name/version", each shortened if it
 * is too long. Writes "name" if the version is missing, "/version" if the name is missing, and ""
 * if both are missing. */
void rpc_client_name(const json_t *info, char *out, size_t size);
