/* SPDX-License-Identifier: Apache-2.0 */
/* Prices per hour, from the rows of catalog/prices.json, each with its source and date. An item
 * without a row has no price: nothing is guessed. */
#pragma once

#include "base/core/digest.h"
#include "fleet/recipes/recipe.h"

struct price_book;

/* Reads the embedded file. INTERNAL if it is wrong. Free with price_book_destroy. */
CHECKED bool price_book_create(struct price_book **out, struct error *error);
/* Reads a JSON array of rows; exported for tests. INVALID if it is not an array, or if a row is
 * wrong. For a wrong row, the message names the wrong member and the row's item, or "a row" if
 * the item is missing. */
CHECKED bool price_book_parse(const char *json, struct price_book **out, struct error *error);
void price_book_destroy(struct price_book *book); /* does nothing for NULL */
size_t price_book_count(const struct price_book *book);

/* Returns all rows of an item, including those that are kept but never used ("apart"). New
 * reference. */
json_t *price_book_rows(const struct price_book *book, const char *item);

struct price {
    bool known; /* the recipe has a `cost`, and each of its items has a row for place and kind */
    double usd_per_hour;   /* for one replica; if rows disagree, the highest; NAN: not known */
    double least_per_hour; /* the same, but the lowest if rows disagree */
    char breakdown[512];   /* the sum, with sources and dates; or why there is no price */
    char rows[DIGEST_TEXT_SIZE]; /* digest of the rows that were used; "": none */
};

/* Adds up what one replica of the recipe costs. `place` is a region or a zone ("us-east5-b"); if it
 * is "", only rows that are valid in every region apply. `kind` is "on_demand", "spot",
 * "flex_start" or "reserved"; if it is "", no row applies. */
void price_of(const struct price_book *book, const struct recipe *recipe, const char *place,
              const char *kind, struct price *out);
