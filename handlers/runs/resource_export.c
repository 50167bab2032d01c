/* SPDX-License-Identifier: Apache-2.0 */
/* opsbrain://runs/{id}/export/<format>: a whole run as a file for another tool. */

#include "analysis/export/export.h"
#include "handlers/resource.h"
#include "handlers/runs/export_find.h"

static CHECKED bool write(struct call *call, const char *value, const char *format,
                          struct text *out, struct error *error)
{
    EVIDENCE_AUTO evidence;

    if (!export_find(call, value, &evidence, error))
        return false;
    exporter_find(format)->write(&evidence, 0, evidence.cell_count, out);
    return true;
}

/* Defines the resource of one format. */
#define EXPORT(suffix, format, type)                                                               \
    static bool read_##suffix(struct call *call, const char *value, struct text *out,              \
                              struct error *error)                                                 \
    {                                                                                              \
        return write(call, value, format, out, error);                                             \
    }                                                                                              \
    const struct resource resource_export_##suffix = {                                             \
        .name = "export-" format,                                                                  \
        .uri = "opsbrain://runs/{id}/export/" format,                                              \
        .title = "Export of a run",                                                                \
        .help = "A whole run in the format " format "; run_export returns it page by page.",       \
        .mime_type = (type),                                                                       \
        .role = ROLE_VIEWER,                                                                       \
        .placement = PLACE_WORKER,                                                                 \
        .instances = &run_instances,                                                               \
        .unlisted = true,                                                                          \
        .counts_reads = true,                                                                      \
        .read = read_##suffix,                                                                     \
    }

EXPORT(vllm, "vllm", "application/json");
EXPORT(aiperf, "aiperf", "application/x-ndjson");
EXPORT(csv, "csv", "text/csv");
EXPORT(serving_report, "serving-report", "application/json");
