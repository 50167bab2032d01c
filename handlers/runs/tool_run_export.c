/* SPDX-License-Identifier: Apache-2.0 */
/* run_export: writes a run in another tool's format. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/export/export.h"
#include "handlers/answer.h"
#include "handlers/runs/export_find.h"

static const char *const formats[] = { "vllm", "aiperf", "csv", "serving-report", NULL };

static const struct param params[] = {
    { "run", VALUE_TEXT, .required = true, .low = 1, .high = 39, .help = "Id: run_... or imp_..." },
    { "format", VALUE_CHOICE, .choices = formats, .initial = "\"csv\"", .help = "File format.",
      .more = "vllm: the summary.json of vLLM's sweeps; aiperf: a profile export per line; csv: a "
              "table; serving-report: schema 1.1." },
    { "limit", VALUE_INTEGER, .low = 1, .high = 500, .initial = "20", .help = "Cells per page.",
      .more = "Each page is a complete file." },
    PARAM_CURSOR,
    { 0 },
};

static const struct field fields[] = {
    { "run", VALUE_TEXT, .help = "The run." },
    { "format", VALUE_TEXT, .help = "The file's format." },
    { "media_type", VALUE_TEXT, .help = "Media type of the content." },
    { "file_name", VALUE_TEXT, .help = "What to call the file." },
    { "content", VALUE_TEXT, .help = "The file with this page's cells." },
    { "cells", VALUE_INTEGER, .help = "Cells on this page." },
    { "cells_total", VALUE_INTEGER, .help = "Cells in the run." },
    { "left_out", VALUE_LIST,
      .help = "Positions of cells that are not in the file, because they were not measured." },
    { "marked", VALUE_LIST, .help = "Doubtful cells: position and warnings (`marks`)." },
    { "not_held", VALUE_LIST, .help = "What the format has no place for." },
    { "resource", VALUE_TEXT, .help = "The resource with the whole file." },
    FIELD_NEXT_CURSOR,
    { 0 },
};

/* Lists the positions of the cells that are not in the file. */
static json_t *left_out_cells(const struct exporter *exporter, const struct evidence *evidence,
                              size_t first, size_t count)
{
    json_t *list = json_array();

    for (size_t i = first; i < first + count; i++)
        if (!export_takes(exporter, &evidence->cells[i]))
            json_array_append_new(list, json_integer((json_int_t)evidence->cells[i].position));
    return list;
}

/* Lists the cells that have warnings, each with its position. */
static json_t *marked_cells(const struct evidence *evidence, size_t first, size_t count)
{
    json_t *list = json_array();

    for (size_t i = first; i < first + count; i++) {
        const struct evidence_cell *cell = &evidence->cells[i];

        if (cell->marks[0] != '\0')
            json_array_append_new(list,
                                  json_pack("{s:I, s:s}", "position", (json_int_t)cell->position,
                                            "marks", cell->marks));
    }
    return list;
}

static void write_losses(const json_t *losses, struct text *out)
{
    const json_t *name;
    size_t i;

    json_array_foreach(losses, i, name) {
        text_addf(out, "%s%s", i == 0 ? "The format has no place for " : ", ",
                  json_string_value(name));
    }
    if (json_array_size(losses) > 0)
        text_add(out, ".\n");
}

static void write_text(const struct exporter *exporter, const json_t *answer, struct text *out)
{
    text_addf(out, "%s (%s), %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT " cells",
              json_string_value(json_object_get(answer, "file_name")), exporter->help,
              json_integer_value(json_object_get(answer, "cells")),
              json_integer_value(json_object_get(answer, "cells_total")));
    if (json_array_size(json_object_get(answer, "left_out")) > 0)
        text_addf(out, "; not in the file, because they were not measured: %zu",
                  json_array_size(json_object_get(answer, "left_out")));
    if (json_array_size(json_object_get(answer, "marked")) > 0)
        text_addf(out, "; in the file with warnings (run_audit gives the reasons): %zu",
                  json_array_size(json_object_get(answer, "marked")));
    text_addf(out, ". The whole file is in the resource %s.\n",
              json_string_value(json_object_get(answer, "resource")));
    write_losses(json_object_get(answer, "not_held"), out);
}

/* The file is a separate content block, so that a client can save it unchanged, or pass it to
 * run_import. */
static json_t *content_blocks(const struct text *words, const struct text *file)
{
    return json_pack("[{s:s, s:s}, {s:s, s:s}]", "type", "text", "text", text_string(words), "type",
                     "text", "text", text_string(file));
}

/* Names the file as the other tool expects it: vLLM's tools look for summary.json in a folder. */
static void name_file(const struct exporter *exporter, const char *id, char *out, size_t size)
{
    bool same = strcmp(exporter->format, exporter->extension) == 0;

    if (strcmp(exporter->format, "vllm") == 0)
        snprintf(out, size, "%s/summary.json", id);
    else
        snprintf(out, size, "%s%s%s.%s", id, same ? "" : ".", same ? "" : exporter->format,
                 exporter->extension);
}

static void write_page(const struct call *call, const struct evidence *evidence, int64_t cursor,
                       struct answer *answer)
{
    const struct exporter *exporter = exporter_find(call_text(call, "format"));
    size_t limit = (size_t)call_integer(call, "limit", 20), all = evidence->cell_count;
    size_t first = (size_t)cursor < all ? (size_t)cursor : all;
    size_t count = all - first < limit ? all - first : limit;
    TEXT_AUTO content = { 0 };
    char file[ID_SIZE + 32], uri[128];

    exporter->write(evidence, first, count, &content);
    name_file(exporter, evidence->id, file, sizeof file);
    snprintf(uri, sizeof uri, "opsbrain://runs/%s/export/%s", evidence->id, exporter->format);
    answer->structured =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:o, s:o, s:o, s:s}", "run", evidence->id,
                  "format", exporter->format, "media_type", exporter->media_type, "file_name", file,
                  "content", text_string(&content), "cells", (json_int_t)count, "cells_total",
                  (json_int_t)all, "left_out", left_out_cells(exporter, evidence, first, count),
                  "marked", marked_cells(evidence, first, count), "not_held",
                  export_losses(exporter, evidence, first, count, &content), "resource", uri);
    write_text(exporter, answer->structured, &answer->text);
    answer_page_end_at(answer, first + count < all, (int64_t)(first + count));
    answer->content = content_blocks(&answer->text, &content);
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    EVIDENCE_AUTO evidence;
    int64_t cursor;

    evidence_init(&evidence);
    if (!answer_page_cursor(call, &cursor, error)
        || !export_find(call, call_text(call, "run"), &evidence, error))
        return false;
    write_page(call, &evidence, cursor, answer);
    return true;
}

const struct tool tool_run_export = {
    .name = "run_export",
    .title = "Export a run for another tool",
    .help = "Writes a run in the format of another tool: vLLM, aiperf, CSV or a serving report.",
    .more = "Figures have that tool's names. Unknown values are omitted, and so are percentiles "
            "that a timeout cut off; what run_audit finds is included. Long runs come page by "
            "page.",
    .sets = SET_MEASURE,
    .params = params,
    .fields = fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .read_only = true,
    .idempotent = true,
    .counts_reads = true,
    .run = run,
};
