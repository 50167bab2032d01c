/* SPDX-License-Identifier: Apache-2.0 */
/* Declares the store, and struct change, which says who changes the store and with which call. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/core/error.h"
#include "base/core/text.h"

struct store;

/* Names in the audit log that no principal can have. */
#define AUDIT_SERVER "(server)" /* stands for the server itself */
#define AUDIT_NOBODY "(nobody)" /* stands for callers without valid credentials */

/* The author of a change, for the audit log. Strings are borrowed. */
struct actor {
    const char *principal;
    const char *role;
    const char *client;     /* such as "name/version" or "page"; "" or NULL: not known */
    const char *request_id; /* as in the log line of the request */
};

/* A change with its author. A store function that changes something for a caller takes a pointer to
 * this struct, and writes the audit row in the same transaction. The pointer is NULL if the change
 * gets no audit row. */
struct change {
    struct actor actor;
    const char *tool;      /* the tool or command that makes the change, such as "key add" */
    const char *arguments; /* JSON without secrets; at most 4 KiB of it are stored */
    /* Identifies a request that takes several rounds (server/mcp/multi_round.h), so that it takes
     * effect only once; NULL: the request takes one round. */
    const char *nonce;
    const struct text *changed; /* JSON {"member": [before, after]}; NULL: not recorded */
    /* The change fails with CONFLICT if the principal has already stored this much or more; 0: no
     * limit. */
    int64_t storage_limit_bytes;
    /* Set by audit_log_announce: the id of the audit row that announces the change; 0: none. */
    int64_t intent;
    bool written; /* set by the store once the change and its audit row are committed */
};
