/* SPDX-License-Identifier: Apache-2.0 */
/* The places of copies: from files to a database of the tests' engine, and to files again. */
#pragma once

#include "store/copy/copy_place.h"
#include "tests/unit/support/folder.h"
#include "tests/unit/support/test_database.h"

struct road {
    char from[FOLDER_SIZE], over[FOLDER_SIZE], to[FOLDER_SIZE];
    struct error error;
};

static inline void road_begin(struct road *road)
{
    folder_create_in_memory(road->from);
    folder_create_in_memory(road->over);
    folder_create_in_memory(road->to);
}

static inline void road_end(struct road *road)
{
    folder_remove(road->from);
    folder_remove(road->over);
    test_database(road->over); /* creates the database unless it exists */
    test_database_lose(road->over);
    folder_remove(road->to);
}

static inline struct copy_place road_files(const char *folder)
{
    return (struct copy_place){ folder, "" };
}

static inline struct copy_place road_middle(const struct road *road)
{
    return (struct copy_place){ road->over, test_database(road->over) };
}
