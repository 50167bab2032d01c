/* SPDX-License-Identifier: Apache-2.0 */
/* Who may call: principals, their API keys (digests only), and the sessions of clients that speak
 * an older revision of MCP. */
#pragma once

#include "base/core/digest.h"
#include "base/core/random.h"
#include "store/ledger/change.h"

/* Each role may do all that the roles before it may. */
enum role {
    ROLE_NONE, /* allows nothing; a table's row that names no role has this one */
    ROLE_VIEWER,
    ROLE_OPERATOR,
    ROLE_ADMIN,
};
const char *role_name(enum role role);
bool role_find(const char *name, enum role *out); /* does not find ROLE_NONE */
/* Returns whether the role `has` may do what requires the role `needs`; false if either is
 * ROLE_NONE. */
bool role_allows(enum role has, enum role needs);

struct principal {
    char name[64];
    enum role role;
    int64_t key_expires_ms; /* when the key that was presented expires, if any; 0: never */
    uint8_t key_digest[DIGEST_BYTES]; /* digest of that key; zero: none was presented */
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

/* Adds a key for the principal, which is created with this role if it is new; only the key's digest
 * is stored. CONFLICT: the principal has a different role (principal_set_role changes it). INVALID:
 * the principal's name or the label is not allowed. */
CHECKED bool api_key_add(struct store *store, const char *principal, enum role role,
                         const char *label, const uint8_t digest[DIGEST_BYTES], int64_t expires_ms,
                         struct change *change, struct api_key *out, struct error *error);
struct key_with_digest {
    uint8_t digest[DIGEST_BYTES];
    struct api_key key;
};
/* Reads all keys, in order of digest. free(*out). */
CHECKED bool api_key_load(struct store *store, struct key_with_digest **out, size_t *count,
                          struct error *error);
/* UNAUTHENTICATED if the key has expired at now_ms, or was revoked. */
CHECKED bool api_key_check(const struct api_key *key, int64_t now_ms, struct error *error);
/* Records the use within about a second, without waiting (deferred_timestamps_note). */
void api_key_note_use(struct store *store, const char *id, int64_t now_ms);
/* Lists all keys, oldest first. free(*out). */
CHECKED bool api_key_list(struct store *store, struct api_key **out, size_t *count,
                          struct error *error);
/* Revokes the key of that id, or every key of the principal of that name. *revoked: how many of
 * them were not revoked before. NOT_FOUND: there is no such key, or all of them were revoked
 * before. */
CHECKED bool api_key_revoke(struct store *store, const char *id_or_principal, int64_t now_ms,
                            struct change *change, int64_t *revoked, struct error *error);

/* A principal that has or had keys. */
struct principal_row {
    struct principal principal;
    int64_t created_ms, last_used_ms; /* 0: never used */
    int64_t keys, valid_keys;         /* how many keys it ever had; how many are valid now */
};
/* Lists principals in order of name. free(*out). */
CHECKED bool principal_list(struct store *store, struct principal_row **out, size_t *count,
                            struct error *error);
/* Sets the role of a principal, and so of all its keys. *before: the role that it had. NOT_FOUND
 * names the principal. */
CHECKED bool principal_set_role(struct store *store, const char *name, enum role role,
                                struct change *change, enum role *before, struct error *error);

struct session_row {
    char id[ID_SIZE];
    char principal[64];
    char protocol_version[16];
    char client[128];
    char *capabilities; /* JSON, heap */
    int64_t created_ms, last_seen_ms;
    /* session_add ignores the following members. */
    int64_t received;   /* the newest event of its standing stream that a connection received */
    int64_t last_event; /* the newest event of that stream; 0: none is kept */
    int64_t log_level;  /* the level that its client set; -1: none */
};
/* The id of every session's standing stream (events.h), which carries the messages that belong to
 * no call. */
#define SESSION_STANDING "0"
CHECKED bool session_add(struct store *store, const struct session_row *session,
                         struct error *error);
/* Store the value within about a second, without waiting (deferred_timestamps_note); the stored
 * value never decreases. */
void session_set_seen(struct store *store, const char *id, int64_t now_ms);
void session_set_received(struct store *store, const char *id, int64_t sequence);
/* The level is on disk when this returns. */
CHECKED bool session_set_log_level(struct store *store, const char *id, int64_t level,
                                   struct error *error);
/* Deletes the session with its subscriptions, calls and events. */
CHECKED bool session_remove(struct store *store, const char *id, struct error *error);
/* Reads the sessions that were seen since `since_ms`, which continue after a restart, and deletes
 * the older ones. Free with session_rows_free. */
CHECKED bool session_load(struct store *store, int64_t since_ms, struct session_row **rows,
                          size_t *count, struct error *error);
void session_rows_free(struct session_row *rows, size_t count);

/* A resource to which a session subscribed. */
struct session_subscription_row {
    char session[ID_SIZE];
    char *uri; /* heap */
};
/* Does nothing if the subscription exists already, or the session has ended. */
CHECKED bool session_subscription_add(struct store *store, const char *session, const char *uri,
                                      struct error *error);
CHECKED bool session_subscription_remove(struct store *store, const char *session, const char *uri,
                                         struct error *error);
CHECKED bool session_subscription_load(struct store *store, struct session_subscription_row **rows,
                                       size_t *count, struct error *error);
void session_subscription_rows_free(struct session_subscription_row *rows, size_t count);
