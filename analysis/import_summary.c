/* A sweep's summary: an object per model, whose cells are members of one object by their name
 * ("c1024-u16"). */
#include <math.h>
#include <string.h>

#include "analysis/import_formats.h"
#include "analysis/import_serving_report.h"

struct summary {
    struct evidence *out;
    struct error *error;
    bool refused;
    char name[160]; /* of the model being read */
    size_t models;
    double context_limit; /* of that model */
};

static bool read_cells(struct json_scan *scan, void *base)
{
    struct summary *summary = base;
    enum json_scan_token token = json_scan_next(scan);

    if (token != JSON_SCAN_OBJECT)
        return import_skip(scan, token);
    while ((token = json_scan_next(scan)) == JSON_SCAN_KEY) {
        struct report_cell cell;
        char name[128];

        json_scan_copy(scan, name, sizeof name);
        if (!report_cell_read(scan, &cell)) {
            report_cell_finish(&cell);
            return false;
        }
        json_object_set_new(cell.cell.original, "cell", json_string(name));
        json_object_set_new(cell.cell.original, "model", json_string(summary->name));
        summary->refused = !report_cell_take(&cell, summary->out, summary->error);
        if (summary->refused)
            return false;
    }
    return token == JSON_SCAN_OBJECT_END;
}

static const struct import_member boot[] = {
    MEMBER_NUMBER_AT("max_model_len", summary, context_limit, 1),
    { 0 },
};
static const struct import_member model[] = {
    MEMBER_INSIDE("boot", 0, boot),
    MEMBER_BY("cells", read_cells),
    { 0 },
};

static void settle_models(struct summary *summary)
{
    struct evidence_facts *facts = &summary->out->facts;

    if (++summary->models == 1) {
        text_copy(facts->model, sizeof facts->model, summary->name);
        facts->context_limit_tokens = summary->context_limit;
        return;
    }
    facts->model[0] = '\0';
    facts->context_limit_tokens = NAN;
    evidence_remark(summary->out, "the file is of several models; this one from cell %zu on: %s",
                    summary->out->cell_count, summary->name);
}

static bool read_models(struct json_scan *scan, struct summary *summary)
{
    enum json_scan_token token = json_scan_next(scan);

    if (token != JSON_SCAN_OBJECT)
        return false;
    while ((token = json_scan_next(scan)) == JSON_SCAN_KEY) {
        size_t before = summary->out->cell_count;

        json_scan_copy(scan, summary->name, sizeof summary->name);
        summary->context_limit = NAN;
        if (!import_object(scan, model, summary, NULL))
            return false;
        if (summary->out->cell_count > before)
            settle_models(summary);
    }
    return token == JSON_SCAN_OBJECT_END && json_scan_next(scan) == JSON_SCAN_DONE;
}

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

bool import_read_summary(const char *bytes, size_t length, struct evidence *out,
                         struct error *error)
{
    struct summary summary = { .out = out, .error = error };
    struct json_scan scan;

    out->input_unit = LENGTH_TOKENS;
    import_scan_init(&scan, bytes, length);
    if (read_models(&scan, &summary))
        return true;
    return summary.refused ? false : json_scan_fail(&scan, error);
}
