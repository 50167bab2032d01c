/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "store/engine/sql.h"

/* A closure does the work of one write. It runs on the writer's thread, inside a savepoint; if it
 * returns false, everything that it wrote is undone. It may write to the database only through
 * `connection`. A transaction can be rolled back and run again, so a closure must not remove
 * anything from its context, and must overwrite what an earlier run stored there. */
CHECKED typedef bool database_apply(struct sql_connection *connection, void *context,
                                    struct error *error);
