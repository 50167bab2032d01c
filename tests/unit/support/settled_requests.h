/* SPDX-License-Identifier: Apache-2.0 */
/* The PostgreSQL tests insert rows into the table settled_requests over a connection from
 * store/engine/, and count them over another connection, which the store knows nothing about. */
#pragma once

#include "store/engine/sql.h"
#include "tests/unit/support/backdoor.h"
#include "tests/unit/support/ledger.h"

static inline CHECKED bool settled_requests_add(struct sql_connection *connection,
                                                const char *nonce, struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, "INSERT INTO settled_requests "
                                         "(nonce, request_id, created_ms) VALUES (?1, '', 0)");

    sql_bind_text(&sql, 1, nonce);
    return sql_run(&sql, error);
}

/* With PostgreSQL, backdoor_try returns how many rows a SELECT found. */
static inline int64_t settled_requests_count(const struct ledger *ledger)
{
    char message[BACKDOOR_MESSAGE_SIZE];

    return backdoor_try(ledger->folder, "SELECT 1 FROM settled_requests", message);
}
