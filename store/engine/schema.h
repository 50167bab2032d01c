/* The schema of a database file: is it ours, whole, and of a version we know? Then brings it up to
 * date. Private to store/. */
#pragma once

#include "migrations/migrations.h"
#include "store/engine/sql.h"

/* On the writer's connection, before anything else. */
bool schema_prepare(struct sql_connection *writer, const struct migration_set *migrations,
                    struct error *error);
