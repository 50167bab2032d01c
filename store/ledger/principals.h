/* SPDX-License-Identifier: Apache-2.0 */
/* Who is allowed to call the server: principals and their API keys, of which only digests are
 * stored. Also the sessions of clients that speak an older revision of MCP. */
#pragma once

#include "base/core/digest.h"
#include "base/core/random.h"
#include "store/ledger/change.h"

/* Each role is allowed to do everything that the roles before it are allowed to do. */
enum role {
    ROLE_NONE, /* allows nothing; the role of tools, resources and prompts that state no role */
    ROLE_VIEWER,
    ROLE_OPERATOR,
    ROLE_ADMIN,
};
const char *role_name(enum role role);
bool role_find(const char *name, enum role *out); /* does not find ROLE_NONE */
/* Returns whether a caller with the role `has` is allowed to do what requires the role `needs`;
 * false if either is ROLE_NONE. */
bool role_allows(enum role has, enum role needs);

struct principal {
    char name[64];
    enum role role;
    int64_t key_expires_ms; /* when the presented key expires; 0: never, or no key was presented */
    uint8_t key_digest[DIGEST_BYTES]; /* digest of that key; zeros: no key was presented */
};

/* *out: whether the name is `local`, or that of a principal that has or had a key. */
CHECKED bool principal_exists(struct store *store, const char *name, bool *out,
                              struct error *error);

#define API_KEY_LABEL_SIZE 64
struct api_key {
    char id[ID_SIZE];
    char principal[64];
    char label[API_KEY_LABEL_SIZE];                           /* its purpose; "" if not stated */
    enum role role;                                           /* the principal's role */
    int64_t created_ms, expires_ms, revoked_ms, last_used_ms; /* 0: never */
};

/* Adds a key, of which only the digest is stored. If the principal is new, creates it with this
 * role. CONFLICT: the principal has a different role (principal_set_role changes it). INVALID: the
 * principal's name or the label is not allowed. */
CHECKED bool api_key_add(struct store *store, const char *principal, enum role role,
                         const char *label, const uint8_t digest[DIGEST_BYTES], int64_t expires_ms,
                         struct change *change, struct api_key *out, struct error *error);
struct key_with_digest {
    uint8_t digest[DIGEST_BYTES];
    struct api_key key;
};
/* Reads all keys, sorted by digest. free(*out). */
CHECKED bool api_key_load(struct store *store, struct key_with_digest **out, size_t *count,
                          struct error *error);
/* UNAUTHENTICATED: the key was revoked, or has expired by now_ms. */
CHECKED bool api_key_check(const struct api_key *key, int64_t now_ms, struct error *error);
/* Records when the key was last used. Does not wait: the time is stored within about a second
 * (deferred_timestamps_note). */
void api_key_note_use(struct store *store, const char *id, int64_t now_ms);
/* Lists all keys, oldest first. free(*out). */
CHECKED bool api_key_list(struct store *store, struct api_key **out, size_t *count,
                          struct error *error);
/* Revokes the key with that id, or all keys of the principal with that name. *revoked: how many
 * keys this call revoked. NOT_FOUND: it revoked none, because there is no such key, or all such
 * keys were revoked earlier. */
CHECKED bool api_key_revoke(struct store *store, const char *id_or_principal, int64_t now_ms,
                            struct change *change, int64_t *revoked, struct error *error);

/* A principal that has or had keys. */
struct principal_row {
    struct principal principal;
    int64_t created_ms, last_used_ms; /* 0: never used */
    int64_t keys;                     /* how many keys it ever had */
    int64_t valid_keys;               /* how many of them are neither revoked nor expired */
};
/* Lists principals, sorted by name. free(*out). */
CHECKED bool principal_list(struct store *store, struct principal_row **out, size_t *count,
                            struct error *error);
/* Sets the role of a principal, which is also the role of all its keys. *before: the previous role.
 * NOT_FOUND: there is no such principal; the message names it. */
CHECKED bool principal_set_role(struct store *store, const char *name, enum role role,
                                struct change *change, enum role *before, struct error *error);

struct session_row {
    char id[ID_SIZE];
    char principal[64];
    char protocol_version[16];
    char client[128];
    char *capabilities; /* JSON, heap */
    int64_t created_ms, last_seen_ms;
    /* session_add ignores the following members. The first two are the numbers of events in the
     * session's long-lived stream; 0: none. */
    int64_t received;   /* the newest event that a connection received */
    int64_t last_event; /* the newest stored event */
    int64_t log_level;  /* the log level that its client set (enum severity); -1: none */
};
/* In every session, the id of the long-lived stream (events.h), which carries the messages that do
 * not belong to a call. */
#define SESSION_STREAM_ID "0"
CHECKED bool session_add(struct store *store, const struct session_row *session,
                         struct error *error);
/* session_set_seen and session_set_received do not wait: the value is stored within about a second
 * (deferred_timestamps_note), unless the stored value is greater. */
void session_set_seen(struct store *store, const char *id, int64_t now_ms);
void session_set_received(struct store *store, const char *id, int64_t sequence);
/* The level is on disk when this returns. */
CHECKED bool session_set_log_level(struct store *store, const char *id, int64_t level,
                                   struct error *error);
/* Deletes the session with its subscriptions, calls and events. */
CHECKED bool session_remove(struct store *store, const char *id, struct error *error);
/* Call this at start. Deletes the sessions that were last seen before `since_ms`, and reads the
 * others, which continue. Free with session_rows_free. */
CHECKED bool session_load(struct store *store, int64_t since_ms, struct session_row **rows,
                          size_t *count, struct error *error);
void session_rows_free(struct session_row *rows, size_t count);

/* A resource to which a session subscribed. */
struct session_subscription_row {
    char session[ID_SIZE];
    char *uri; /* heap */
};
/* Does nothing if the subscription already exists or the session has ended. */
CHECKED bool session_subscription_add(struct store *store, const char *session, const char *uri,
                                      struct error *error);
CHECKED bool session_subscription_remove(struct store *store, const char *session, const char *uri,
                                         struct error *error);
CHECKED bool session_subscription_load(struct store *store, struct session_subscription_row **rows,
                                       size_t *count, struct error *error);
void session_subscription_rows_free(struct session_subscription_row *rows, size_t count);
