/* SPDX-License-Identifier: Apache-2.0 */
/* Runs an importer on any bytes. If it refuses them, the error must be ERROR_INVALID, with a
 * message. If it accepts them, the number of cells must be within the limit. A cell that is written
 * to JSON and read back must keep its row and state, and have a concurrency or an error exactly if
 * it had one before. The report and every export must be UTF-8, and it must be possible to import
 * the CSV export again. Each fuzz_import_<format>.c tests one format. */
#pragma once

#include <math.h>
#include <string.h>

#include "analysis/export/export.h"
#include "analysis/import/import.h"
#include "analysis/report/import_report.h"
#include "tests/fuzz/fuzz.h"

static void check_cell(const struct evidence_cell *cell)
{
    struct evidence_cell read;
    json_t *json = evidence_cell_json(cell);

    must(json != NULL);
    must(!(cell->success_rate > 1));
    evidence_cell_read(json, &read);
    must(read.row == cell->row && read.state == cell->state);
    must(isfinite(read.concurrency) == isfinite(cell->concurrency));
    must((read.error == NULL) == (cell->error == NULL));
    free(read.error);
    json_decref(read.original);
    json_decref(json);
}

static void check_exports(const struct evidence *evidence)
{
    for (const struct exporter *exporter = exporters; exporter->format != NULL; exporter++) {
        TEXT_AUTO file = { 0 };
        EVIDENCE_AUTO again;
        struct error error;

        exporter->write(evidence, 0, evidence->cell_count, &file);
        must(text_is_utf8(file.data == NULL ? "" : file.data, file.length));
        evidence_init(&again);
        if (strcmp(exporter->format, "csv") == 0) {
            must(import_read(file.data, file.length, "csv", &again, &error));
            must(again.cell_count == evidence->cell_count);
        }
    }
}

static void fuzz_import(const char *format, const char *const *columns, const uint8_t *data,
                        size_t size)
{
    const struct import_file file = {
        .bytes = (const char *)data, .length = size, .format = format, .columns = columns
    };
    TEXT_AUTO report = { 0 };
    EVIDENCE_AUTO evidence;
    struct error error;
    json_t *document;

    if (!import_read_file(&file, &evidence, &error)) {
        must(error.kind == ERROR_INVALID && error.message[0] != '\0');
        return;
    }
    must(evidence.cell_count > 0 && evidence.cell_count <= EVIDENCE_CELLS_MAX);
    document = evidence_document(&evidence);
    must(document != NULL && json_is_object(json_object_get(document, "facts")));
    json_decref(document);
    for (size_t i = 0; i < evidence.cell_count; i++)
        check_cell(&evidence.cells[i]);
    check_exports(&evidence);
    import_report_write(&evidence, &report);
    must(text_is_utf8(text_string(&report), report.length));
}
