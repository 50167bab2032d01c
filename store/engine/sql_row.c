/* SPDX-License-Identifier: Apache-2.0 */
#include "store/engine/sql_row.h"

#include <stdlib.h>
#include <string.h>

static void read_member(const struct sql *sql, int column, const struct sql_member *member,
                        char *at)
{
    switch (member->type) {
    case SQL_MEMBER_INTEGER:
        memcpy(at, &(int64_t){ sql_integer(sql, column) }, sizeof(int64_t));
        break;
    case SQL_MEMBER_REAL:
        memcpy(at, &(double){ sql_real(sql, column) }, sizeof(double));
        break;
    case SQL_MEMBER_TEXT:
        sql_text(sql, column, at, member->size);
        break;
    case SQL_MEMBER_HEAP_TEXT:
        memcpy(at, &(char *){ sql_text_copy(sql, column) }, sizeof(char *));
        break;
    }
}

void sql_row_read(const struct sql *sql, const struct sql_member *members, size_t count, void *row)
{
    for (size_t i = 0; i < count; i++)
        read_member(sql, (int)i, &members[i], (char *)row + members[i].offset);
}

void sql_row_finish(const struct sql_member *members, size_t count, void *row)
{
    for (size_t i = 0; i < count; i++) {
        char *text;

        if (members[i].type != SQL_MEMBER_HEAP_TEXT)
            continue;
        memcpy(&text, (char *)row + members[i].offset, sizeof text);
        free(text);
    }
}
