/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/recipes/price_book.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/digest.h"
#include "base/core/memory.h"
#include "base/json/json.h"

#define SECONDS_PER_HOUR 3600

extern const char catalog_prices_json[];

struct price_row {
    const char *item, *kind, *source, *as_of;
    const json_t *regions; /* empty: the source names no region, so the row applies to all */
    double usd_per_hour;   /* for one unit of the item */
    const char *apart;     /* why the row is kept but never used; NULL: it is used */
    const json_t *json;
};

struct price_book {
    json_t *json; /* owns the rows' strings */
    struct price_row *rows;
    size_t count;
};

/* ---- Reading ---- */

static CHECKED bool refuse(const json_t *row, const char *member, const char *what,
                           struct error *error)
{
    return error_set(error, ERROR_INVALID, "prices: %s: \"%s\" must be %s",
                     json_get_text(row, "item", "a row"), member, what);
}

static CHECKED bool read_row(const json_t *row, struct price_row *out, struct error *error)
{
    static const char *const texts[] = { "provider", "item", "kind", "source", "as_of", "unit" };
    double usd = json_get_number(row, "usd", NAN);
    const char *unit = json_get_text(row, "unit", "");

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (json_get_text(row, texts[i], "")[0] == '\0')
            return refuse(row, texts[i], "a string", error);
    if (!(usd >= 0))
        return refuse(row, "usd", "a number of at least 0", error);
    if (strcmp(unit, "h") != 0 && strcmp(unit, "s") != 0)
        return refuse(row, "unit", "\"h\" or \"s\"", error);
    if (!json_is_array(json_object_get(row, "regions")))
        return refuse(row, "regions", "a list", error);
    *out = (struct price_row){
        .item = json_get_text(row, "item", ""),
        .kind = json_get_text(row, "kind", ""),
        .source = json_get_text(row, "source", ""),
        .as_of = json_get_text(row, "as_of", ""),
        .regions = json_object_get(row, "regions"),
        .usd_per_hour = unit[0] == 's' ? usd * SECONDS_PER_HOUR : usd,
        .apart = json_get_text(row, "apart", NULL),
        .json = row,
    };
    return true;
}

bool price_book_parse(const char *json, struct price_book **out, struct error *error)
{
    struct price_book *book = memory_zeroed(1, sizeof *book);
    bool done = json_parse(json, strlen(json), &book->json, error);

    if (done && !json_is_array(book->json))
        done = error_set(error, ERROR_INVALID, "prices must be a list");
    book->rows = memory_zeroed(json_array_size(book->json) + 1, sizeof *book->rows);
    for (; done && book->count < json_array_size(book->json); book->count++)
        done = read_row(json_array_get(book->json, book->count), &book->rows[book->count], error);
    if (done)
        *out = book;
    else
        price_book_destroy(book);
    return done;
}

bool price_book_create(struct price_book **out, struct error *error)
{
    if (price_book_parse(catalog_prices_json, out, error))
        return true;
    error->kind = ERROR_INTERNAL; /* the file is our own */
    return false;
}

void price_book_destroy(struct price_book *book)
{
    if (book == NULL)
        return;
    free(book->rows);
    json_decref(book->json);
    free(book);
}

size_t price_book_count(const struct price_book *book)
{
    return book->count;
}

json_t *price_book_rows(const struct price_book *book, const char *item)
{
    json_t *list = json_array();

    for (size_t i = 0; i < book->count; i++)
        if (strcmp(book->rows[i].item, item) == 0)
            json_array_append_new(list, json_deep_copy(book->rows[i].json));
    return list;
}

/* ---- What a replica costs ---- */

/* A region contains its zones: "us-east5" contains "us-east5-b"; "us-*" contains every place that
 * begins with "us-". */
static bool is_in_region(const char *place, const char *region)
{
    size_t length = strlen(region);

    if (length > 0 && region[length - 1] == '*')
        return strncmp(place, region, length - 1) == 0;
    return strncmp(place, region, length) == 0
           && (place[length] == '\0'
               || (place[length] == '-' && strlen(place + length) == strlen("-b")));
}

static bool applies(const struct price_row *row, const char *item, const char *place,
                    const char *kind)
{
    const json_t *region;
    size_t i;

    if (row->apart != NULL || strcmp(row->item, item) != 0 || strcmp(row->kind, kind) != 0)
        return false;
    json_array_foreach(row->regions, i, region)
        if (json_is_string(region) && is_in_region(place, json_string_value(region)))
            return true;
    return json_array_size(row->regions) == 0;
}

/* The price of a recipe while its items are added up. */
struct adding {
    const struct price_book *book;
    const char *place, *kind;
    double most, least;
    struct text sum, sources;
    json_t *used;
    const char *unknown; /* the first item without a row that applies; NULL: none */
};

static void note_source(struct adding *adding, const struct price_row *row)
{
    TEXT_AUTO note = { 0 };

    text_addf(&note, "%s, %s", row->source, row->as_of);
    if (strstr(text_string(&adding->sources), text_string(&note)) == NULL)
        text_addf(&adding->sources, "%s%s", adding->sources.length > 0 ? "; " : "",
                  text_string(&note));
    json_array_append(adding->used, json_iterable(row->json));
}

static void add_item(struct adding *adding, const char *item, double quantity)
{
    double least = INFINITY, most = -INFINITY;

    for (size_t i = 0; i < adding->book->count; i++) {
        const struct price_row *row = &adding->book->rows[i];

        if (!applies(row, item, adding->place, adding->kind))
            continue;
        least = fmin(least, row->usd_per_hour);
        most = fmax(most, row->usd_per_hour);
        note_source(adding, row);
    }
    if (most < least) {
        adding->unknown = adding->unknown == NULL ? item : adding->unknown;
        return;
    }
    text_addf(&adding->sum, "%s%g x %s %.6g", adding->sum.length > 0 ? " + " : "", quantity, item,
              most);
    if (least < most)
        text_addf(&adding->sum, " (sources disagree: %.6g to %.6g)", least, most);
    adding->least += quantity * least;
    adding->most += quantity * most;
}

static void digest_rows(const json_t *used, char out[DIGEST_TEXT_SIZE])
{
    char *written = json_write_canonical(used);

    digest_sha256_text(written, strlen(written), out);
    free(written);
}

static void finish(const struct adding *adding, struct price *out)
{
    TEXT_AUTO breakdown = { 0 };

    *out = (struct price){ .usd_per_hour = NAN, .least_per_hour = NAN };
    if (adding->unknown != NULL)
        text_addf(&breakdown, "not known: catalog/prices.json has no row for %s, %s, %s%s",
                  adding->unknown, adding->kind,
                  adding->place[0] == '\0' ? "that is valid in every region" : "in ",
                  adding->place);
    else {
        out->known = true;
        out->usd_per_hour = adding->most;
        out->least_per_hour = adding->least;
        text_addf(&breakdown, "%s = %.3f USD/h, list price (%s)", text_string(&adding->sum),
                  adding->most, text_string(&adding->sources));
        digest_rows(adding->used, out->rows);
    }
    text_copy(out->breakdown, sizeof out->breakdown, text_string(&breakdown));
}

void price_of(const struct price_book *book, const struct recipe *recipe, const char *place,
              const char *kind, struct price *out)
{
    const json_t *cost = recipe_member(recipe, "cost"), *item;
    struct adding adding = { .book = book, .place = place, .kind = kind };
    size_t i;

    *out = (struct price){ .usd_per_hour = NAN, .least_per_hour = NAN };
    if (cost == NULL) {
        text_copy(out->breakdown, sizeof out->breakdown, "not known: the recipe has no \"cost\"");
        return;
    }
    if (json_array_size(cost) == 0) {
        *out = (struct price){ .known = true, .breakdown = "nothing is billed for it" };
        return;
    }
    adding.used = json_array();
    json_array_foreach(cost, i, item)
        add_item(&adding, json_get_text(item, "item", ""), json_get_number(item, "quantity", 0));
    finish(&adding, out);
    json_decref(adding.used);
    text_finish(&adding.sum);
    text_finish(&adding.sources);
}
