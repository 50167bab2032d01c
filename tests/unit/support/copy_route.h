/* SPDX-License-Identifier: Apache-2.0 */
/* The databases of a test that copies SQLite files (`from`) into a database of the engine that the
 * tests use (`middle`; see test_database.h), and from there into SQLite files again (`to`). */
#pragma once

#include "store/copy/copy_place.h"
#include "tests/unit/support/folder.h"
#include "tests/unit/support/test_database.h"

struct copy_route {
    char from[FOLDER_SIZE], middle[FOLDER_SIZE], to[FOLDER_SIZE];
    struct error error;
};

static inline void copy_route_begin(struct copy_route *route)
{
    folder_create_in_memory(route->from);
    folder_create_in_memory(route->middle);
    folder_create_in_memory(route->to);
}

static inline void copy_route_end(struct copy_route *route)
{
    folder_remove(route->from);
    folder_remove(route->middle);
    test_database(route->middle); /* creates the database, so that it can be dropped */
    test_database_drop(route->middle);
    folder_remove(route->to);
}

static inline struct copy_place copy_route_files(const char *folder)
{
    return (struct copy_place){ folder, "" };
}

static inline struct copy_place copy_route_middle(const struct copy_route *route)
{
    return (struct copy_place){ route->middle, test_database(route->middle) };
}
