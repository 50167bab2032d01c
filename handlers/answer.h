/* SPDX-License-Identifier: Apache-2.0 */
/* What tools use to write their answers: times, counts, untrusted text, pages of lists. */
#pragma once

#include "handlers/tool.h"

/* The time as "2026-11-21T03:11:26Z"; null if `utc_ms` is 0, which means that there is no time. New
 * reference. */
json_t *answer_json_time(int64_t utc_ms);
/* The time as tables show it: "2026-11-21 03:11:26", or "-" if `utc_ms` is 0. Returns `out`. */
#define TIME_SHOWN_SIZE 24
const char *answer_time(int64_t utc_ms, char out[TIME_SHOWN_SIZE]);
/* "41 s", "12 min", "3 h 20 min". Returns `out`. */
#define DURATION_SHOWN_SIZE 32
const char *answer_duration(double seconds, char out[DURATION_SHOWN_SIZE]);
/* "950", "12.5 thousand", "10.3 million". Returns `out`. */
const char *answer_count(int64_t count, char out[DURATION_SHOWN_SIZE]);

/* The text in printable form, or null if it is empty. New reference. */
json_t *answer_json_text(const char *string);
/* Untrusted text in printable form, at most `limit` bytes of it. New reference. */
json_t *answer_json_foreign(const char *bytes, size_t length, size_t limit);
/* Parses JSON text from the store; {} if it is NULL or not an object. New reference. */
json_t *answer_json_stored(const char *json);

/* Adds at most `limit` bytes of text that a model or a server wrote. The line before the text has
 * `heading`, and says that the text is untrusted. Each line of the text begins with "> ", so that
 * nothing in it can be mistaken for opsbrain's own text. */
void answer_quote(struct text *out, const char *heading, const char *bytes, size_t length,
                  size_t limit);

/* Parameters and a field for tools that return a list page by page. */
#define PARAM_LIMIT                                                                                \
    {                                                                                              \
        "limit", VALUE_INTEGER, .low = 1, .high = 100, .initial = "20", .help = "Rows per page."   \
    }
#define PARAM_CURSOR                                                                               \
    {                                                                                              \
        "cursor", VALUE_TEXT, .low = 1, .high = 80, .help = "next_cursor of the previous page."    \
    }
#define PARAM_DETAIL                                                                               \
    {                                                                                              \
        "detail", VALUE_BOOLEAN, .initial = "false", .help = "Show all details in the structure."  \
    }
#define FIELD_NEXT_CURSOR                                                                          \
    {                                                                                              \
        "next_cursor", VALUE_TEXT, .optional = true,                                               \
                                   .help = "`cursor` for the next page; missing: last page."       \
    }

/* Adds the members of an object as one line of printable text: "hardware=\"L4\", chips=2.". */
void answer_describe_members(const json_t *object, struct text *out);

/* Says what to call next, both in the text and in the structure, which must already exist. */
void answer_next(struct answer *answer, const char *next);
#define FIELD_NEXT_STEP                                                                            \
    {                                                                                              \
        "next_step", VALUE_TEXT, .optional = true, .help = "What to call next."                    \
    }

/* Sets the content to two blocks: the answer's text, which must already be complete, and `text`,
 * which agents need but people do not. The second block's annotation says that it is for the
 * assistant. */
void answer_aside(struct answer *answer, const char *text);

/* Sets the path of the page that shows the answer to people: "/runs/run_...". If the address of the
 * pages is known, the page's URL becomes the last line of the text, and the structure's member
 * "page". */
void answer_shows(struct answer *answer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A parameter for tools that start or change something. It has no effect on a tool whose repeated
 * calls change nothing anyway. */
#define PARAM_IDEMPOTENCY_KEY                                                                      \
    {                                                                                              \
        "idempotency_key", VALUE_TEXT, .low = 1, .high = 64, .rare = true,                         \
                                       .help = "Any text: repeated calls with it act only once.",  \
                                       .more = "A repeated call returns the first answer."         \
    }

/* The argument `limit`: the number of rows on a page. */
size_t answer_page_limit(const struct call *call);
/* Reads the argument `cursor` of a list that is ordered by time or by number; *out is 0 if the call
 * has no cursor. INVALID: the argument is not a cursor. */
CHECKED bool answer_page_cursor(const struct call *call, int64_t *out, struct error *error);
/* How many of the `count` rows belong on this page. The rows are sorted, newest first, and the
 * caller fetched at most limit + 1 of them. Because the cursor is a time, rows with the same time
 * are not split between two pages. The exception is a page whose rows all have the same time: it
 * ends after `limit` rows. */
size_t answer_page_length(size_t count, size_t limit,
                          int64_t (*time_of)(const void *rows, size_t index), const void *rows);
/* Sets next_cursor, and mentions it in the text. `cursor` NULL: this is the last page. */
void answer_page_end(struct answer *answer, const char *cursor);
/* Does the same, with `at` as the cursor. `more` false: this is the last page. */
void answer_page_end_at(struct answer *answer, bool more, int64_t at);
