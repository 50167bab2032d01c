/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of a report, each complete in itself: pages show them, too. */
#pragma once

#include "analysis/document/document.h"
#include "base/formats/html.h"

/* "Gemma 4 12B on 2 x L4", or the comparison's sides. */
void document_title(const struct document *document, struct text *out);
/* The title, and what the report is about. */
void document_write_head(const struct document *document, struct html *html);

/* What the figures say, in sentences: saturation or the comparison's result first. */
void document_write_verdict(const struct document_part *part, struct html *html);
void document_write_takeaways(const struct document_part *part, struct html *html);
/* The same for an import, from its figures. New references. */
json_t *document_import_verdict(const struct chart_runs *runs);
json_t *document_import_takeaways(const struct chart_runs *runs);

/* What is wrong with the figures; a sentence says so if nothing was found. */
void document_write_audit(const struct document_part *part, struct html *html);

/* The charts 1, 2, 3, 4, 7 and 8, as far as the figures allow and until `html` has `limit` bytes;
 * those that are missing are named. */
void document_write_charts(const struct document_part *part, size_t limit, struct html *html);
struct document_chart {
    const char *question, *name;
    const char *plot, *quantity; /* as run_chart is asked for it; NULL: its own */
    void (*draw)(const struct chart_runs *runs, struct chart *out);
    int when; /* private */
};
extern const struct document_chart document_charts[]; /* ends with a NULL question */

enum document_drawn {
    DOCUMENT_DRAWN,
    DOCUMENT_EMPTY,      /* no cell has its figures */
    DOCUMENT_NOT_WANTED, /* another one stands for it */
};
enum document_drawn document_chart_draw(const struct document_chart *row,
                                        const struct chart_runs *runs, struct chart *out);
/* A chart with the question that it answers above it, as SVG, or as PNG where that is smaller;
 * false: it does not fit. */
CHECKED bool document_write_chart(const char *question, const struct chart *chart, size_t limit,
                                  struct html *html);
/* The same always as SVG, which is read cell by cell. */
CHECKED bool document_write_drawing(const char *question, const struct chart *chart, size_t limit,
                                    struct html *html);

/* The cells, one a row, with the columns that any of them has, until `html` has `limit` bytes. */
void document_write_table(const struct document_part *part, size_t limit, struct html *html);
/* How many cells of a table did not fit, unless none, and what shows them. */
void document_write_missing(size_t cells, const char *elsewhere, struct html *html);

/* Verdict, differences, forest and cells of a comparison; without what does not fit. */
void document_write_comparison(const struct chart_comparison *input, size_t limit,
                               struct html *html);

/* "input_tokens=[128,1024], seed=7"; of an object without its empty members. */
void document_add_value(const json_t *value, struct text *out);
/* Who measured or imported what, with what. */
void document_write_origin(const struct document_part *part, struct html *html);

/* Every known figure of every cell as JSON, until `html` has `limit` bytes. */
void document_write_data(const struct document *document, size_t limit, struct html *html);
