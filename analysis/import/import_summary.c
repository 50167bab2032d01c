/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a sweep's summary, which has an object for each model. In that object, the member "cells"
 * is an object with the model's cells, which have names such as "c1024-u16". */
#include "analysis/import/import_formats.h"
#include "analysis/import/import_members.h"
#include "analysis/import/import_table.h"

bool import_sniff_summary(const char *bytes, size_t length)
{
    static const char *const keys[] = { "cells", NULL };
    struct json_scan scan;
    const char *value;
    size_t size;

    import_scan_init(&scan, bytes, length);
    if (json_scan_next(&scan) != JSON_SCAN_OBJECT)
        return false;
    return json_scan_next(&scan) == JSON_SCAN_KEY && json_scan_value(&scan, &value, &size)
           && import_has_keys(value, size, keys);
}

bool import_read_summary(const struct import_file *file, struct evidence *out, struct error *error)
{
    /* these summaries are made from vLLM's results, in which ITL is the gap between chunks */
    static const struct import_alias aliases[] = {
        { "itl_ms.mean", "mean_icl_ms" },
        { "itl_ms.median", "median_icl_ms" },
        { "itl_ms.p90", "p90_icl_ms" },
        { "itl_ms.p95", "p95_icl_ms" },
        { "itl_ms.p99", "p99_icl_ms" },
        { "raw.mean_itl_ms", "mean_icl_ms" },
        { "raw.median_itl_ms", "median_icl_ms" },
        { "raw.p99_itl_ms", "p99_icl_ms" },
        { "boot.model", "" },
        { "boot._note", "" },
        { NULL, NULL },
    };

    return import_table_read_rows(file, aliases, "model", out, error);
}
