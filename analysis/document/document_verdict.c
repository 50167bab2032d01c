/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the head of a report, its verdict and its takeaways. */
#include <string.h>

#include "analysis/document/document_parts.h"
#include "base/core/clock.h"

#define SENTENCES_SHOWN 30

void document_title(const struct document *document, struct text *out)
{
    const struct chart_comparison *comparison = document->comparison;

    if (comparison != NULL)
        text_addf(out, "%s against %s", comparison->names[SIDE_CANDIDATE],
                  comparison->names[SIDE_BASELINE]);
    else
        chart_name(&document->parts[0].runs, out);
}

static size_t cells_of(const struct document *document)
{
    size_t count = 0;

    for (size_t p = 0; p < document->part_count; p++)
        for (size_t r = 0; r < document->parts[p].runs.count; r++)
            count += document->parts[p].runs.runs[r].cell_count;
    return count;
}

static size_t runs_of(const struct document *document)
{
    size_t count = 0;

    for (size_t p = 0; p < document->part_count; p++)
        count += document->parts[p].runs.count;
    return count;
}

void document_write_head(const struct document *document, struct html *html)
{
    const struct evidence *first = &document->parts[0].runs.runs[0];
    size_t runs = runs_of(document), cells = cells_of(document);
    char time[CLOCK_TEXT_SIZE];
    TEXT_AUTO title = { 0 };

    document_title(document, &title);
    html_element(html, "p", document->kind, { "class", "soft kind" });
    html_open(html, "h1");
    html_name(html, text_string(&title));
    html_close(html, "h1");
    html_open(html, "p", { "class", "soft" });
    if (document->id[0] != '\0') {
        html_element(html, "span", document->id, { "class", "id" });
        html_text(html, " \xc2\xb7 ");
    }
    html_textf(html, "%zu run%s \xc2\xb7 %zu cell%s", runs, runs == 1 ? "" : "s", cells,
               cells == 1 ? "" : "s");
    if (first->created_ms > 0)
        html_textf(html, " \xc2\xb7 %s %.10s %.5s UTC",
                   first->imported ? "imported" : "measured from",
                   clock_format_utc(first->created_ms, time), time + strlen("2026-01-01T"));
    html_close(html, "p");
}

static void write_list(const json_t *sentences, struct html *html)
{
    const json_t *sentence;
    size_t i, count = json_array_size(sentences);

    html_open(html, "ul");
    json_array_foreach(sentences, i, sentence)
        if (i < SENTENCES_SHOWN)
            html_element(html, "li", json_string_value(sentence));
    if (count > SENTENCES_SHOWN) {
        html_open(html, "li");
        html_textf(html, "and %zu more", count - SENTENCES_SHOWN);
        html_close(html, "li");
    }
    html_close(html, "ul");
}

static bool has_wrong_finding(const struct chart_runs *runs)
{
    for (size_t r = 0; r < runs->count; r++)
        for (size_t i = 0; i < runs->findings[r].count; i++)
            if (runs->findings[r].at[i].weight == FINDING_WRONG)
                return true;
    return false;
}

void document_write_verdict(const struct document_part *part, struct html *html)
{
    json_auto_t *sentences =
        part->report != NULL ? report_verdict(part->report) : document_import_verdict(&part->runs);

    html_open(html, "div", { "class", "verdict" });
    if (json_array_size(sentences) == 0)
        html_element(html, "p", "Nothing was measured at a known load.");
    else if (json_array_size(sentences) == 1)
        html_element(html, "p", json_string_value(json_array_get(sentences, 0)));
    else
        write_list(sentences, html);
    if (has_wrong_finding(&part->runs))
        html_element(html, "p",
                     "Read the figures with care: the audit finds some that do not measure what "
                     "their names say.");
    html_close(html, "div");
}

void document_write_takeaways(const struct document_part *part, struct html *html)
{
    json_auto_t *sentences = part->report != NULL ? report_takeaways(part->report)
                                                  : document_import_takeaways(&part->runs);

    html_element(html, "h2", "Takeaways");
    write_list(sentences, html);
}
