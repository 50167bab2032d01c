/* SPDX-License-Identifier: Apache-2.0 */
/* The PostgreSQL engine, for servers without a disk of their own. A place is a connection URI
 * (postgresql.org/docs/current/libpq-connect.html); libpq's environment variables (PGHOST,
 * PGPASSFILE, ...) supply what the URI does not contain. If the database is on another machine,
 * sslmode is verify-full unless the URI or PGSSLMODE sets another. Private to store/. */
#pragma once

#include "store/engine/sql_engine.h"

extern const struct sql_engine postgres_engine;

/* Sets the file whose first line is the password; "": the file that OPSBRAIN_DATABASE_PASSWORD_FILE
 * names, if any. Call it before other threads are started. */
void postgres_use_password_file(const char *path);
