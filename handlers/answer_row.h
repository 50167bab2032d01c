/* SPDX-License-Identifier: Apache-2.0 */
/* Shows rows of the store in answers. Each field of an answer states which member of a row it
 * shows, so that one table provides the schema, the help and the values:
 *
 *     { "created_at", VALUE_TEXT, .help = "When, UTC.", ROW_TIME(struct job, created_ms) }, */
#pragma once

#include <stddef.h>

#include "handlers/tool.h"

/* Makes an object from the members of `row` that the fields show and from `others`, the members
 * that were computed (NULL: there are none). The object's members are in the order of the fields.
 * Releases `others`. New reference. */
json_t *answer_row_take(const struct field *fields, const void *row, json_t *others);

/* Each of these functions converts one member of a row, for the macros below. They return new
 * references. */
json_t *answer_row_text(const void *member);
json_t *answer_row_text_or_null(const void *member);
json_t *answer_row_heap_text_or_null(const void *member);
json_t *answer_row_integer(const void *member);
json_t *answer_row_integer_or_null(const void *member);
json_t *answer_row_number(const void *member);
json_t *answer_row_time(const void *member);
json_t *answer_row_json(const void *member);
json_t *answer_row_heap_json(const void *member);

/* Compiles only if `pointer` is the type of a pointer to the member. */
#define ROW_MEMBER(row, member, pointer, function)                                                 \
    .show = (function), .offset = _Generic(&((row *)NULL)->member, pointer : offsetof(row, member))
#define ROW_CHARACTERS(row, member, function)                                                      \
    ROW_MEMBER(row, member, char(*)[sizeof((row *)NULL)->member], function)

#define ROW_TEXT(row, member) ROW_CHARACTERS(row, member, answer_row_text)
#define ROW_INTEGER(row, member) ROW_MEMBER(row, member, int64_t *, answer_row_integer)
#define ROW_NUMBER(row, member) ROW_MEMBER(row, member, double *, answer_row_number)
/* A member in UTC milliseconds; 0 is shown as null. */
#define ROW_TIME(row, member) ROW_MEMBER(row, member, int64_t *, answer_row_time)
/* An empty string is shown as null. */
#define ROW_TEXT_OR_NULL(row, member) ROW_CHARACTERS(row, member, answer_row_text_or_null)
/* 0 is shown as null. */
#define ROW_INTEGER_OR_NULL(row, member)                                                           \
    ROW_MEMBER(row, member, int64_t *, answer_row_integer_or_null)
/* A member that contains the text of a JSON object. */
#define ROW_JSON(row, member) ROW_CHARACTERS(row, member, answer_row_json)
/* The same as ROW_TEXT_OR_NULL and ROW_JSON, for members that point to their text on the heap. */
#define ROW_HEAP_TEXT_OR_NULL(row, member)                                                         \
    ROW_MEMBER(row, member, char **, answer_row_heap_text_or_null)
#define ROW_HEAP_JSON(row, member) ROW_MEMBER(row, member, char **, answer_row_heap_json)
