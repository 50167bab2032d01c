/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that tests of PostgreSQL write through the store, and count without it. */
#pragma once

#include "store/engine/sql.h"
#include "tests/unit/support/backdoor.h"
#include "tests/unit/support/ledger.h"

static inline CHECKED bool notes_add(struct sql_connection *connection, const char *nonce,
                                     struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, "INSERT INTO settled_requests "
                                         "(nonce, request_id, created_ms) VALUES (?1, '', 0)");

    sql_bind_text(&sql, 1, nonce);
    return sql_run(&sql, error);
}

static inline int64_t notes_count(const struct ledger *ledger)
{
    char message[BACKDOOR_MESSAGE_SIZE];

    return backdoor_try(ledger->folder, "SELECT 1 FROM settled_requests", message);
}
