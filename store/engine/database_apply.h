/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "store/engine/sql.h"

/* A closure: what one write does, on the writer's thread, inside a savepoint; false undoes all of
 * it. It may write to the database only through `connection`. An engine may have to roll a
 * transaction back and run it again, so a closure removes nothing from its context, and overwrites
 * what an earlier run stored there. */
CHECKED typedef bool database_apply(struct sql_connection *connection, void *context,
                                    struct error *error);
