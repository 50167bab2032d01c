/* SPDX-License-Identifier: Apache-2.0 */
/* opsbrain://runs/{id}/export/<format>: all cells of a run as a file for another tool. */

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
#define EXPORT(word, form, type)                                                                   \
    static bool read_##word(struct call *call, const char *value, struct text *out,                \
                            struct error *error)                                                   \
    {                                                                                              \
        return write(call, value, form, out, error);                                               \
    }                                                                                              \
    const struct resource resource_export_##word = {                                               \
        .name = "export-" form,                                                                    \
        .uri = "opsbrain://runs/{id}/export/" form,                                                \
        .title = "Export of run",                                                                  \
        .help = "Every cell of a run in the format " form ", as run_export writes it.",            \
        .mime_type = (type),                                                                       \
        .role = ROLE_VIEWER,                                                                       \
        .placement = PLACE_WORKER,                                                                 \
        .instances = &run_instances,                                                               \
        .unlisted = true,                                                                          \
        .counts_reads = true,                                                                      \
        .read = read_##word,                                                                       \
    }

EXPORT(vllm, "vllm", "application/json");
EXPORT(aiperf, "aiperf", "application/x-ndjson");
EXPORT(csv, "csv", "text/csv");
EXPORT(serving_report, "serving-report", "application/json");
