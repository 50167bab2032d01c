/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/document/document.h"

#include "analysis/document/document_parts.h"
#include "base/core/base64.h"
#include "base/core/clock.h"
#include "base/core/digest.h"
#include "web/assets/assets.h"

/* When the file has TABLES_BYTES_MAX bytes, no more charts or table rows are written. When it has
 * DATA_BYTES_MAX bytes, no more cells are added to the JSON. The remaining bytes, up to
 * DOCUMENT_BYTES_MAX, are for what must still follow, such as closing tags. */
#define TABLES_BYTES_MAX (DOCUMENT_BYTES_MAX * 5 / 6)
#define DATA_BYTES_MAX (DOCUMENT_BYTES_MAX - 12000)
#define COMPARISON_SHARE 0.25 /* a comparison's share of the bytes for charts and tables */
#define CHARTS_SHARE 0.75     /* the charts' share of a part's bytes; its table gets the rest */

/* ---- Style and policy ---- */

static void add_style(struct text *out)
{
    static const char *const names[] = { "style.css", "chart.css" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct asset *style = asset_find(names[i]);

        text_add_bytes(out, style->bytes, *style->length);
    }
}

void document_policy(struct text *out)
{
    TEXT_AUTO style = { 0 };
    uint8_t digest[DIGEST_BYTES];

    add_style(&style);
    digest_sha256(style.data, style.length, digest);
    text_add(out, "default-src 'none'; style-src 'sha256-");
    base64_add(out, digest, sizeof digest);
    text_add(out, "'; img-src data:; base-uri 'none'; form-action 'none'");
}

static void write_style(struct html *html)
{
    TEXT_AUTO style = { 0 };

    add_style(&style);
    html_open(html, "style");
    html_add_trusted_markup(html, style.data, style.length);
    html_close(html, "style");
}

static void write_html_head(const struct document *document, struct html *html)
{
    TEXT_AUTO policy = { 0 };
    TEXT_AUTO title = { 0 };

    document_policy(&policy);
    document_title(document, &title);
    html_open(html, "head");
    html_open(html, "meta", { "charset", "utf-8" });
    html_open(html, "meta", { "http-equiv", "Content-Security-Policy" },
              { "content", text_string(&policy) });
    html_open(html, "meta", { "name", "viewport" }, { "content", "width=device-width" });
    html_element(html, "title", text_string(&title));
    write_style(html);
    html_close(html, "head");
}

/* ---- Parts ---- */

static void write_part_name(const struct document_part *part, struct html *html)
{
    if (part->name == NULL)
        return;
    html_open(html, "h2", { "class", "part" });
    html_name(html, part->name);
    html_close(html, "h2");
}

/* Returns the limit on the file's size that gives a section this share of the bytes left before
 * `limit`. */
static size_t share_of(const struct html *html, double share, size_t limit)
{
    size_t used = html->out->length;

    return used < limit ? used + (size_t)(share * (double)(limit - used)) : used;
}

static void write_part(const struct document_part *part, size_t limit, struct html *html)
{
    write_part_name(part, html);
    document_write_verdict(part, html);
    document_write_takeaways(part, html);
    document_write_audit(part, html);
    document_write_charts(part, share_of(html, CHARTS_SHARE, limit), html);
    document_write_table(part, limit, html);
}

static void write_origins(const struct document *document, struct html *html)
{
    for (size_t i = 0; i < document->part_count; i++) {
        write_part_name(&document->parts[i], html);
        document_write_origin(&document->parts[i], html);
    }
}

static void write_foot(const struct document *document, struct html *html)
{
    char time[CLOCK_TEXT_SIZE];

    html_open(html, "p", { "class", "soft" });
    html_textf(html, "Written by opsbrain %s at %s. ", OPSBRAIN_VERSION,
               clock_format_utc(document->written_ms, time));
    html_text(html, "The figures of the cells are also in this file as JSON, in the element with "
                    "the id \"data\".");
    if (document->page != NULL) {
        html_text(html, " The report's page: ");
        html_element(html, "a", document->page, { "href", document->page });
    }
    html_close(html, "p");
}

static void write_main(const struct document *document, struct html *html)
{
    size_t count = document->part_count;

    html_open(html, "main", { "class", "report" });
    document_write_head(document, html);
    if (document->comparison != NULL)
        document_write_comparison(document->comparison,
                                  share_of(html, COMPARISON_SHARE, TABLES_BYTES_MAX), html);
    for (size_t i = 0; i < count; i++)
        write_part(&document->parts[i], share_of(html, 1.0 / (double)(count - i), TABLES_BYTES_MAX),
                   html);
    write_origins(document, html);
    write_foot(document, html);
    html_close(html, "main");
}

void document_write(const struct document *document, struct text *out)
{
    struct html html = html_begin(out);

    text_add(out, "<!doctype html>\n");
    html_open(&html, "html", { "lang", "en" });
    write_html_head(document, &html);
    html_open(&html, "body");
    write_main(document, &html);
    document_write_data(document, DATA_BYTES_MAX, &html);
    html_close(&html, "body");
    html_close(&html, "html");
    html_finish(&html);
}
