/* SPDX-License-Identifier: Apache-2.0 */
/* PostgreSQL, for servers without a disk of their own. A place is a connection URI
 * (postgresql.org/docs/current/libpq-connect.html); libpq's environment (PGHOST, PGPASSFILE, ...)
 * supplies what it does not contain. For other machines, sslmode is verify-full unless the URI or
 * PGSSLMODE sets another. Private to store/. */
#pragma once

#include "store/engine/sql_engine.h"

extern const struct sql_engine postgres_engine;

/* The file whose first line is the password; "": that of OPSBRAIN_DATABASE_PASSWORD_FILE. Call it
 * before there are threads. */
void postgres_use_password_file(const char *path);
