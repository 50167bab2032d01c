/* SPDX-License-Identifier: Apache-2.0 */
/* Who may call: principals, their API keys (digests only), and the sessions of the older protocol
 * eras. */
#pragma once

#include "base/core/digest.h"
#include "base/core/random.h"
#include "store/ledger/change.h"

/* Each may do what those before it may. */
enum role {
    ROLE_NONE, /* no role; in a table, a row that forgot it: nothing is allowed */
    ROLE_VIEWER,
    ROLE_OPERATOR,
    ROLE_ADMIN,
};
const char *role_name(enum role role);
bool role_find(const char *name, enum role *out); /* false also for ROLE_NONE's name */
/* Whether the role `has` may do what requires the role `needs`. Never, if either is ROLE_NONE. */
bool role_allows(enum role has, enum role needs);

struct principal {
    char name[64];
    enum role role;
    int64_t key_expires_ms;           /* of the key that was shown, if any; 0: never */
    uint8_t key_digest[DIGEST_BYTES]; /* the same; zero: none was */
};

/* Is there a principal of this name, with a key or `local`? */
CHECKED bool principal_exists(struct store *store, const char *name, bool *out,
                              struct error *error);

#define API_KEY_LABEL_SIZE 64
struct api_key {
    char id[ID_SIZE];
    char principal[64];
    char label[API_KEY_LABEL_SIZE];                           /* its purpose; "" if not stated */
    enum role role;                                           /* of the principal */
    int64_t created_ms, expires_ms, revoked_ms, last_used_ms; /* 0: none */
};

/* Creates the principal where it is new, with this role, and a key for it; only the digest is
 * stored. CONFLICT: the principal has another role (principal_set_role). */
CHECKED bool api_key_add(struct store *store, const char *principal, enum role role,
                         const char *label, const uint8_t digest[DIGEST_BYTES], int64_t expires_ms,
                         struct change *change, struct api_key *out, struct error *error);
/* All keys with their digests, in order of digest: to be kept in memory.
 * free(*out). */
struct recognized_key {
    uint8_t digest[DIGEST_BYTES];
    struct api_key key;
};
CHECKED bool api_key_load(struct store *store, struct recognized_key **out, size_t *count,
                          struct error *error);
/* UNAUTHENTICATED if it expired at now_ms or was revoked. */
CHECKED bool api_key_check(const struct api_key *key, int64_t now_ms, struct error *error);
/* Stored within a second or so; never waits. */
void api_key_note_use(struct store *store, const char *id, int64_t now_ms);
CHECKED bool api_key_list(struct store *store, struct api_key **out, size_t *count,
                          struct error *error); /* free(*out) */
/* By key id, or every key of a principal by name; NOT_FOUND: there is neither. *revoked: how many.
 */
CHECKED bool api_key_revoke(struct store *store, const char *id_or_principal, int64_t now_ms,
                            struct change *change, int64_t *revoked, struct error *error);

/* A principal that has or had keys. */
struct principal_row {
    struct principal principal;
    int64_t created_ms, last_used_ms; /* 0: never used */
    int64_t keys, valid_keys;         /* all there were; those that are valid now */
};
/* By name. free(*out). */
CHECKED bool principal_list(struct store *store, struct principal_row **out, size_t *count,
                            struct error *error);
/* For all of its keys. *before: the role it had. NOT_FOUND
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
    int64_t received;   /* the newest event of its standing stream that a connection took */
    int64_t last_event; /* the newest of that stream; 0: none is kept */
    int64_t log_level;  /* that its client set; -1: none. Read only, as are the two before */
};
/* The id of every session's standing stream (events.h). */
#define SESSION_STANDING "0"
CHECKED bool session_add(struct store *store, const struct session_row *session,
                         struct error *error);
/* Stored within a second or so; never wait. An earlier value changes nothing. */
void session_set_seen(struct store *store, const char *id, int64_t now_ms);
void session_set_received(struct store *store, const char *id, int64_t sequence);
/* On disk when it returns. */
CHECKED bool session_set_log_level(struct store *store, const char *id, int64_t level,
                                   struct error *error);
/* Also deletes its events. */
CHECKED bool session_remove(struct store *store, const char *id, struct error *error);
/* All that were seen since `since_ms`, to be taken up at start; the older ones are deleted. Free
 * each capabilities and the array with session_rows_free. */
CHECKED bool session_load(struct store *store, int64_t since_ms, struct session_row **rows,
                          size_t *count, struct error *error);
void session_rows_free(struct session_row *rows, size_t count);

/* What a session follows, in no order. */
struct session_subscription_row {
    char session[ID_SIZE];
    char *uri; /* heap */
};
/* One that is there already stays; nothing for a session that ended. */
CHECKED bool session_subscription_add(struct store *store, const char *session, const char *uri,
                                      struct error *error);
CHECKED bool session_subscription_remove(struct store *store, const char *session, const char *uri,
                                         struct error *error);
CHECKED bool session_subscription_load(struct store *store, struct session_subscription_row **rows,
                                       size_t *count, struct error *error);
void session_subscription_rows_free(struct session_subscription_row *rows, size_t count);
