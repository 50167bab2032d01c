/* SPDX-License-Identifier: Apache-2.0 */
/* Checks HTML reports on made-up runs of many shapes, on results that users published, and on
 * comparisons. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/charts/scale.h"
#include "analysis/document/document_parts.h"
#include "analysis/report/repetition_stats.h"
#include "base/core/base64.h"
#include "base/core/digest.h"
#include "base/json/json.h"
#include "tests/unit/support/html_check.h"
#include "tests/unit/support/imports.h"
#include "tests/unit/support/made_runs.h"
#include "tests/unit/support/shaped_runs.h"

#define MADE_RUNS REPORTERS /* one run per reporter (made_runs.h) */
#define HOSTILE                                                                                    \
    "<script>alert(1)</script>\"><img src=x onerror='alert(1)'> javascript:alert(1) \x01\x1b[31m " \
    "\xe2\x80\xae\xd7\x90\xd7\x91 ${} {{7*7}} --> ]]> </style>"

static const struct shape_of_run small = { "small", "m", 4, 6, ALL(EVIDENCE_MEASURED), "", 1 };

static void write_document(const struct evidence *runs, size_t count, struct text *out)
{
    struct findings *findings = calloc(count, sizeof *findings);
    const struct document_part part = { .runs = { runs, count, findings } };
    const struct document document = { .kind = "Imported run",
                                       .id = "imp_1",
                                       .written_ms = 1700000000000,
                                       .parts = &part,
                                       .part_count = 1 };

    for (size_t i = 0; i < count; i++) {
        const struct audit_input input = { .evidence = &runs[i], .chips = NAN };

        audit_run(&input, &findings[i]);
    }
    document_write(&document, out);
    for (size_t i = 0; i < count; i++)
        findings_finish(&findings[i]);
    free(findings);
}

static json_t *data_of(const struct text *document)
{
    FREE_AUTO char *written =
        html_between(document, "<script type=\"application/json\" id=\"data\">", "</script>");
    struct error error;
    json_t *data;

    if (!json_parse(written, strlen(written), &data, &error))
        fail_msg("%s: %.200s", error.message, written);
    return data;
}

/* ---- What every document must have ---- */

static void comes_before(const char *what, const struct text *document, const char *earlier,
                         const char *later)
{
    const char *first = strstr(text_string(document), earlier);
    const char *second = strstr(text_string(document), later);

    if (first == NULL || second == NULL || first > second)
        fail_msg("%s: %s does not come before %s", what, earlier, later);
}

static void is_in_order(const char *what, const struct text *document)
{
    static const char *const sections[] = { "http-equiv=\"Content-Security-Policy\"",
                                            "<style>",
                                            "<h1>",
                                            "class=\"verdict\"",
                                            "<h2>Takeaways",
                                            "<h2>Audit",
                                            "<h2>Charts",
                                            "<h2>Cells",
                                            "<h2>Provenance",
                                            "id=\"data\"" };

    for (size_t i = 1; i < sizeof sections / sizeof *sections; i++)
        comes_before(what, document, sections[i - 1], sections[i]);
}

/* The column "ttft.p50_ms" is the member "p50_ms" of "ttft". */
static const json_t *member_of(const json_t *cell, const char *column)
{
    const char *dot = strchr(column, '.');
    char group[32];

    if (dot == NULL)
        return json_object_get(cell, column);
    snprintf(group, sizeof group, "%.*s", (int)(dot - column), column);
    return json_object_get(json_object_get(cell, group), dot + 1);
}

/* Checks that each number in the data equals that of the cell, that null stands only for a value
 * that the cell lacks, and that the document says how many cells did not fit. */
static void has_the_data_of(const struct evidence *evidence, const json_t *run)
{
    const json_t *columns = json_object_get(run, "columns"), *row, *value;
    size_t i, c;

    json_array_foreach(json_object_get(run, "cells"), i, row) {
        json_auto_t *cell = evidence_cell_json(&evidence->cells[i]);

        assert_int_equal(json_array_size(row), json_array_size(columns));
        json_array_foreach(row, c, value) {
            const char *name = json_string_value(json_array_get(columns, c));
            const json_t *expected = member_of(cell, name);

            if (json_is_number(value))
                assert_true(json_number_value(value) == json_number_value(expected));
            else if (json_is_boolean(value))
                assert_int_equal(json_is_true(value), json_is_true(expected));
            else if (json_is_null(value))
                assert_null(expected);
        }
    }
    assert_int_equal(i + (size_t)json_get_integer(run, "cells_missing", -1), evidence->cell_count);
}

static const struct shown_figure {
    const char *heading;
    size_t offset;
} shown_figures[] = {
    { "Users", offsetof(struct evidence_cell, concurrency) },
    { "Context", offsetof(struct evidence_cell, input_length) },
    { "Requests/s", offsetof(struct evidence_cell, request_throughput) },
    { "Output tokens/s", offsetof(struct evidence_cell, output_throughput) },
    { "TTFT p50, ms", offsetof(struct evidence_cell, latency[METRIC_TTFT].p50_ms) },
    { "TTFT p99, ms", offsetof(struct evidence_cell, latency[METRIC_TTFT].p99_ms) },
    { "E2E mean, ms", offsetof(struct evidence_cell, latency[METRIC_E2E].mean_ms) },
    { "Succeeded", offsetof(struct evidence_cell, success_rate) },
};

static void shows(const char *row, int column, double value, bool is_exact)
{
    char text[256], expected[SCALE_NUMBER_SIZE] = "";

    html_cell_text(row, "<td", (size_t)column, text);
    if (isfinite(value) && is_exact)
        scale_exact(value, expected);
    else if (isfinite(value))
        repetition_stats_number(value, expected);
    /* A percentile that a timeout cut off is shown with "≥" before it. */
    assert_string_equal(strncmp(text, "\xe2\x89\xa5", 3) == 0 ? text + 3 : text, expected);
}

/* Checks the figures in those columns of shown_figures that the table has. */
static void has_the_table_of(const struct evidence *evidence, const struct text *document)
{
    FREE_AUTO char *head = html_between(document, "<thead>", "</thead>");
    FREE_AUTO char *body = html_between(document, "<tbody>", "</tbody>");
    const char *row;
    size_t i;

    for (size_t f = 0; f < sizeof shown_figures / sizeof *shown_figures; f++) {
        int column = html_column(head, shown_figures[f].heading);

        for (i = 0, row = html_find(body, "<tr"); row != NULL && column >= 0;
             row = html_find(row + 1, "<tr"), i++)
            shows(row, column,
                  *(const double *)((const char *)&evidence->cells[i] + shown_figures[f].offset),
                  f < 2); /* users and contexts are not rounded */
    }
}

static void document_is_sound(const char *what, const struct text *document,
                              const struct evidence *evidence)
{
    json_auto_t *data = data_of(document);

    html_is_sound(what, document);
    is_in_order(what, document);
    if (document->length > DOCUMENT_BYTES_MAX)
        fail_msg("%s has %zu bytes, expected at most %d", what, document->length,
                 DOCUMENT_BYTES_MAX);
    has_the_data_of(evidence, json_array_get(json_object_get(data, "runs"), 0));
    has_the_table_of(evidence, document);
}

/* ---- Runs ---- */

static void documents_of_every_listed_shape_are_sound(void **state)
{
    (void)state;
    for (const struct shape_of_run *shape = shapes_of_runs; shape->name != NULL; shape++) {
        EVIDENCE_AUTO evidence;
        TEXT_AUTO document = { 0 };

        shaped_run(shape, &evidence);
        write_document(&evidence, 1, &document);
        document_is_sound(shape->name, &document, &evidence);
    }
}

static void documents_of_made_runs_are_sound(void **state)
{
    (void)state;
    for (int i = 0; i < MADE_RUNS; i++) {
        struct maker maker = maker_create(i);
        EVIDENCE_AUTO evidence;
        TEXT_AUTO document = { 0 };
        char name[32];

        maker_run(&maker, &evidence);
        snprintf(name, sizeof name, "made run %d", i);
        write_document(&evidence, 1, &document);
        document_is_sound(name, &document, &evidence);
    }
}

static void the_data_says_which_percentiles_are_lower_bounds(void **state)
{
    EVIDENCE_AUTO evidence;
    TEXT_AUTO document = { 0 };

    (void)state;
    shaped_run(&small, &evidence);
    evidence.cells[2].latency[METRIC_TTFT].p99_at_least = true;
    write_document(&evidence, 1, &document);
    document_is_sound("a lower bound", &document, &evidence);
    json_auto_t *data = data_of(&document);
    FREE_AUTO char *written = json_write(data);
    assert_non_null(strstr(written, "\"ttft.p99_ms\",\"ttft.max_ms\",\"ttft.p99_at_least\""));
}

static void check_file(const char *name, const struct text *bytes)
{
    const struct import_file file = { .bytes = bytes->data, .length = bytes->length };
    EVIDENCE_AUTO evidence;
    TEXT_AUTO document = { 0 };
    struct error error;

    if (!import_read_file(&file, &evidence, &error))
        fail_msg("%s: %s", name, error.message);
    evidence.imported = true;
    write_document(&evidence, 1, &document);
    document_is_sound(name, &document, &evidence);
}

static void documents_of_published_results_are_sound(void **state)
{
    char folder[4096];

    (void)state;
    if (published_folder(folder) == NULL)
        skip();
    assert_true(published_each(folder, check_file) > 0);
}

static void a_document_of_repetitions_has_a_column_for_them(void **state)
{
    struct evidence runs[3];
    TEXT_AUTO document = { 0 };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        shaped_run(&shapes_of_runs[9], &runs[i]);
        runs[i].repetition = (int64_t)i;
    }
    write_document(runs, 3, &document);
    html_is_sound("three repetitions", &document);
    assert_non_null(strstr(document.data, ">Repetition</th>"));
    assert_in_range(document.length, 1, DOCUMENT_BYTES_MAX);
    for (size_t i = 0; i < 3; i++)
        evidence_finish(&runs[i]);
}

static void a_document_of_40_large_runs_stays_within_the_size_limit(void **state)
{
    static const struct shape_of_run large = {
        "large", ARABIC_NAME, 24, 25, ALL(EVIDENCE_MEASURED), "", 1
    };
    struct evidence runs[40];
    TEXT_AUTO document = { 0 };

    (void)state;
    for (size_t i = 0; i < 40; i++)
        shaped_run(&large, &runs[i]);
    write_document(runs, 40, &document);
    html_is_sound("40 runs", &document);
    assert_in_range(document.length, 1, DOCUMENT_BYTES_MAX);
    for (size_t i = 0; i < 40; i++)
        evidence_finish(&runs[i]);
}

/* ---- Untrusted text ---- */

static void make_hostile(struct evidence *evidence)
{
    for (const struct evidence_field *field = evidence_fact_fields; field->name != NULL; field++)
        if (field->size > 0)
            text_copy((char *)&evidence->facts + field->offset, field->size, HOSTILE);
    text_copy(evidence->name, sizeof evidence->name, HOSTILE);
    text_copy(evidence->principal, sizeof evidence->principal, HOSTILE);
    evidence->notes = memory_copy_text(HOSTILE);
    evidence_remark(evidence, "%s", "<script>alert(1)</script> in a remark");
    for (size_t i = 0; i < evidence->cell_count; i++) {
        struct evidence_cell *cell = &evidence->cells[i];

        text_copy(cell->status, sizeof cell->status, HOSTILE);
        text_copy(cell->variant, sizeof cell->variant, HOSTILE);
        text_copy(cell->time, sizeof cell->time, HOSTILE);
        free(cell->error);
        cell->error = memory_copy_text(HOSTILE);
    }
}

static void untrusted_text_is_never_markup(void **state)
{
    static const size_t shapes[] = { 1, 2, 11 };

    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        EVIDENCE_AUTO evidence;
        TEXT_AUTO document = { 0 };

        shaped_run(&shapes_of_runs[shapes[i]], &evidence);
        make_hostile(&evidence);
        write_document(&evidence, 1, &document);
        document_is_sound("a hostile run", &document, &evidence);
        assert_null(strstr(document.data, "<img src=x"));
        /* Only the JSON at the end is allowed to contain U+202E, which reverses text. */
        strstr(document.data, "id=\"data\"")[0] = '\0';
        assert_null(strstr(document.data, "\xe2\x80\xae"));
    }
}

/* ---- The Content-Security-Policy ---- */

static void the_policy_is_strict_and_has_the_hash_of_the_style(void **state)
{
    uint8_t digest[DIGEST_BYTES];
    EVIDENCE_AUTO evidence;
    TEXT_AUTO document = { 0 };
    TEXT_AUTO policy = { 0 };
    TEXT_AUTO hash = { 0 };

    (void)state;
    shaped_run(&shapes_of_runs[0], &evidence);
    write_document(&evidence, 1, &document);
    FREE_AUTO char *style = html_between(&document, "<style>", "</style>");
    digest_sha256(style, strlen(style), digest);
    base64_add(&hash, digest, sizeof digest);
    document_policy(&policy);
    assert_non_null(strstr(policy.data, hash.data));
    assert_non_null(strstr(policy.data, "default-src 'none'"));
    assert_null(strstr(policy.data, "unsafe"));
    assert_non_null(strstr(document.data, hash.data));
}

/* ---- Two sides ---- */

static const char *const no_facts[] = { NULL };

static void write_comparison(struct text *out)
{
    struct evidence runs[4];
    struct findings findings[4] = { 0 };
    const struct compare_input input = { .runs = runs,
                                         .counts = { 2, 2 },
                                         .factors = no_facts,
                                         .accepted = no_facts,
                                         .keeps_wrong = true };
    COMPARISON_AUTO comparison = { 0 };
    const struct chart_comparison compared = {
        &comparison, 0, { "<b>one</b>", HOSTILE }, { 2, 2 }
    };
    const struct document_part parts[] = { { .name = "one", .runs = { runs, 2, findings } },
                                           { .name = HOSTILE,
                                             .runs = { runs + 2, 2, findings + 2 } } };
    const struct document document = {
        .kind = "Comparison", .id = "", .parts = parts, .part_count = 2, .comparison = &compared
    };

    for (size_t i = 0; i < 4; i++) {
        shaped_run(&small, &runs[i]);
        snprintf(runs[i].id, sizeof runs[i].id, "imp_%zu", i);
        snprintf(runs[i].facts.model, sizeof runs[i].facts.model, i < 2 ? "a" : "<b>");
        snprintf(runs[i].facts.flags, sizeof runs[i].facts.flags,
                 "{\"dtype\":\"auto\",\"blocks\":%d,\"eager\":true%s}", i < 2 ? 16 : 32,
                 i < 2 ? ",\"lora\":\"<i>\"" : "");
        for (size_t c = 0; c < runs[i].cell_count; c++)
            shaped_figures(&runs[i].cells[c], 1 + 0.01 * (double)i + (i < 2 ? 0 : 0.3));
    }
    compare_runs(&input, &comparison);
    document_write(&document, out);
    for (size_t i = 0; i < 4; i++)
        evidence_finish(&runs[i]);
}

static void a_comparison_begins_with_its_verdict_and_the_differences(void **state)
{
    TEXT_AUTO document = { 0 };

    (void)state;
    write_comparison(&document);
    html_is_sound("a comparison", &document);
    comes_before("a comparison", &document, "cannot be compared with", "<h2>Differences");
    comes_before("a comparison", &document, "<h2>Differences", "<h2>Charts");
    assert_non_null(strstr(document.data, "&lt;b&gt;"));
    assert_non_null(strstr(document.data, ">blocks=16, lora=&lt;i&gt;<"));
    assert_non_null(strstr(document.data, ">blocks=32<"));
    assert_in_range(document.length, 1, DOCUMENT_BYTES_MAX);
}

static void findings_of_one_rule_count_a_run_and_each_of_its_cells_once(void **state)
{
    size_t cells[] = { 0, 1, 2 };
    struct finding rows[] = {
        { .rule = audit_rules, .weight = FINDING_CAUTION, .cells = cells, .cell_count = 3 },
        { .rule = audit_rules, .weight = FINDING_CAUTION, .cells = cells + 1, .cell_count = 2 },
    };
    struct findings findings = { .at = rows, .count = 2 };
    struct evidence run;
    const struct document_part part = { .runs = { &run, 1, &findings } };
    TEXT_AUTO out = { 0 };
    struct html html = { .out = &out };

    (void)state;
    shaped_run(&small, &run);
    document_write_audit(&part, &html);
    html_finish(&html);
    assert_non_null(strstr(out.data, "3 of 24 cells"));
    assert_null(strstr(out.data, "in 2 runs"));
    evidence_finish(&run);
}

static void the_worst_finding_of_several_runs_and_every_applied_rule_are_shown(void **state)
{
    size_t cell = 0;
    struct finding
        mild = { .rule = audit_rules, .weight = FINDING_CAUTION, .cells = &cell, .cell_count = 1 },
        grave = { .rule = audit_rules, .weight = FINDING_WRONG, .cells = &cell, .cell_count = 1 };
    struct findings findings[2] = { { .at = &mild, .count = 1 }, { .at = &grave, .count = 1 } };
    struct evidence runs[2];
    const struct document_part part = { .runs = { runs, 2, findings } };
    TEXT_AUTO out = { 0 };
    struct html html = { .out = &out };

    (void)state;
    findings[0].uses[0] = RULE_LACKS_FIGURES;
    findings[1].uses[0] = RULE_APPLIED;
    text_add(&mild.arithmetic, "the mild one");
    text_add(&grave.arithmetic, "the grave one");
    for (size_t i = 0; i < 2; i++)
        shaped_run(&small, &runs[i]);
    document_write_audit(&part, &html);
    html_finish(&html);
    assert_non_null(strstr(out.data, "the grave one"));
    assert_null(strstr(out.data, "the mild one"));
    assert_non_null(strstr(out.data, "Audit rules applied: 1; not applied for lack of figures: 0"));
    for (size_t i = 0; i < 2; i++)
        evidence_finish(&runs[i]);
    text_finish(&mild.arithmetic);
    text_finish(&grave.arithmetic);
}

static void cells_of_a_comparison_that_do_not_fit_are_counted(void **state)
{
    struct compared_cell cells[5] = { 0 };
    struct comparison comparison = { .cells = cells, .cell_count = 5, .compared = 5 };
    const struct chart_comparison compared = { &comparison, 0, { "one", "two" }, { 1, 1 } };
    TEXT_AUTO out = { 0 };
    struct html html = html_begin(&out);

    (void)state;
    for (size_t i = 0; i < 5; i++)
        cells[i] = (struct compared_cell){ .users = 1 << i, .why = CELL_MISSING };
    html_open(&html, "main");
    document_write_comparison(&compared, 1, &html);
    html_close(&html, "main");
    html_finish(&html);
    assert_non_null(strstr(out.data, "5 more cells do not fit here: run_compare shows"));
}

static void rows_without_a_context_are_not_separated(void **state)
{
    EVIDENCE_AUTO evidence;
    TEXT_AUTO document = { 0 };

    (void)state;
    shaped_run(&small, &evidence);
    for (size_t i = 0; i < evidence.cell_count; i++)
        evidence.cells[i].input_length = NAN;
    write_document(&evidence, 1, &document);
    assert_null(strstr(document.data, "<tr class=\"first\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(findings_of_one_rule_count_a_run_and_each_of_its_cells_once),
        cmocka_unit_test(the_worst_finding_of_several_runs_and_every_applied_rule_are_shown),
        cmocka_unit_test(cells_of_a_comparison_that_do_not_fit_are_counted),
        cmocka_unit_test(rows_without_a_context_are_not_separated),
        cmocka_unit_test(documents_of_every_listed_shape_are_sound),
        cmocka_unit_test(documents_of_made_runs_are_sound),
        cmocka_unit_test(the_data_says_which_percentiles_are_lower_bounds),
        cmocka_unit_test(documents_of_published_results_are_sound),
        cmocka_unit_test(a_document_of_repetitions_has_a_column_for_them),
        cmocka_unit_test(a_document_of_40_large_runs_stays_within_the_size_limit),
        cmocka_unit_test(untrusted_text_is_never_markup),
        cmocka_unit_test(the_policy_is_strict_and_has_the_hash_of_the_style),
        cmocka_unit_test(a_comparison_begins_with_its_verdict_and_the_differences),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
