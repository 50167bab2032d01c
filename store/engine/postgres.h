/* SPDX-License-Identifier: Apache-2.0 */
/* PostgreSQL, for servers without a disk of their own. A place is a connection URI
 * (postgresql.org/docs/current/libpq-connect.html); what it leaves open is read from libpq's
 * environment (PGHOST, PGPASSFILE ...). To another machine, sslmode is verify-full unless the URI
 * or PGSSLMODE says otherwise. Private to store/. */
#pragma once

#include "store/engine/sql_engine.h"

extern const struct sql_engine postgres_engine;
