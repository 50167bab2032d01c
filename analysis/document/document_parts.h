/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of a report. Each can be written alone, because web pages show single sections. */
#pragma once

#include "analysis/document/document.h"
#include "base/formats/html.h"

/* Writes "Gemma 4 12B on 2 x L4"; for a comparison, "A against B" with the names of its sides. */
void document_title(const struct document *document, struct text *out);
/* Writes the kind, title and id of the report, how many runs and cells it has, and when the first
 * run was created. */
void document_write_head(const struct document *document, struct html *html);

/* These write, in sentences, what the figures say. The verdict is about saturation and limits. */
void document_write_verdict(const struct document_part *part, struct html *html);
void document_write_takeaways(const struct document_part *part, struct html *html);
/* The sentences of the verdict and of the takeaways, for a part without a report, such as an
 * import. JSON arrays; new references. */
json_t *document_import_verdict(const struct chart_runs *runs);
json_t *document_import_takeaways(const struct chart_runs *runs);

/* Writes the audit's findings; if there are none, a sentence says so. */
void document_write_audit(const struct document_part *part, struct html *html);

/* Writes the charts of the table document_charts that fit before `html` has `limit` bytes. Charts
 * without figures, and charts that do not fit, are only named; those that are not wanted (enum
 * document_drawn) are omitted. */
void document_write_charts(const struct document_part *part, size_t limit, struct html *html);
struct document_chart {
    const char *question; /* the heading above the chart */
    const char *name;     /* what the chart shows; used where it is not drawn, and as alt text */
    const char *plot;     /* run_chart's argument of this name */
    const char *quantity; /* run_chart's argument of this name; NULL: the chart's default */
    void (*draw)(const struct chart_runs *runs, struct chart *out);
    int conditions; /* flags, which are private to document_charts.c */
};
extern const struct document_chart document_charts[]; /* ends with a NULL question */

enum document_drawn {
    DOCUMENT_DRAWN,
    DOCUMENT_EMPTY,      /* no cell has the figures that the chart needs */
    DOCUMENT_NOT_WANTED, /* another chart is drawn instead, or there is no price */
};
enum document_drawn document_chart_draw(const struct document_chart *row,
                                        const struct chart_runs *runs, struct chart *out);
/* Writes a chart below the question that it answers, as SVG, or as PNG if the SVG is large and the
 * PNG is smaller; false: the chart does not fit, and nothing was written. */
CHECKED bool document_write_chart(const char *question, const struct chart *chart, size_t limit,
                                  struct html *html);
/* Like document_write_chart(), but always as SVG, which shows a cell's figures when the reader
 * points at the cell. */
CHECKED bool document_write_drawing(const char *question, const struct chart *chart, size_t limit,
                                    struct html *html);

/* Writes a row per cell, with a column for each main figure that at least one cell has, until
 * `html` has `limit` bytes. */
void document_write_table(const struct document_part *part, size_t limit, struct html *html);
/* If `cells` is not 0, writes that this many cells of a table do not fit. `elsewhere` says which
 * tool shows them. */
void document_write_missing(size_t cells, const char *elsewhere, struct html *html);

/* Writes a comparison: verdict, differences and, unless these rule the comparison out, the forest
 * chart and as many cells as fit before `html` has `limit` bytes. */
void document_write_comparison(const struct chart_comparison *input, size_t limit,
                               struct html *html);

/* Writes a value as text. An object is written without its empty members: "input_tokens=[128],
 * seed=7". */
void document_add_value(const json_t *value, struct text *out);
/* Writes who measured or imported the figures, when, and with which tool, model and plan. */
void document_write_origin(const struct document_part *part, struct html *html);

/* Writes every known figure of every cell as JSON, until `html` has `limit` bytes. */
void document_write_data(const struct document *document, size_t limit, struct html *html);
