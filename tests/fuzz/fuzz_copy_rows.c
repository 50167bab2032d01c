/* SPDX-License-Identifier: Apache-2.0 */
/* copy_rows_read: the values of a row lie within the input, reading a row moves past it, and a
 * refusal has an error message. The first byte of the input chooses the table. */
#include <string.h>

#include "store/copy/copy_rows.h"
#include "store/copy/copy_side.h"
#include "tests/fuzz/fuzz.h"

static const struct copy_tables *every_table(void)
{
    static struct copy_tables tables;
    int64_t versions[COPY_SETS];
    struct error error;

    copy_side_versions(versions);
    if (tables.count == 0)
        must(copy_tables_read(versions, &tables, &error));
    return &tables;
}

static void check_bytes(const struct sql_value *value, const uint8_t *start, const uint8_t *end)
{
    const uint8_t *bytes = value->bytes;

    if (value->type != SQL_TEXT && value->type != SQL_BLOB)
        return;
    must(bytes >= start && bytes <= end && value->length <= (size_t)(end - bytes));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct copy_tables *tables = every_table();
    const uint8_t *at = data + 1, *end = data + size, *before = at;
    struct sql_value values[COPY_COLUMNS_MAX];
    struct error error = { 0 };

    if (size == 0)
        return 0;
    const struct sql_table *table = tables->list[data[0] % tables->count].schema;
    while (at < end && copy_rows_read(table, &at, end, values, &error)) {
        must(at > before && at <= end);
        for (size_t i = 0; i < table->column_count; i++)
            check_bytes(&values[i], before, at);
        before = at;
    }
    must(at == end || error.message[0] != '\0');
    return 0;
}
