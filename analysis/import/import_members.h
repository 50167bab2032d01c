/* SPDX-License-Identifier: Apache-2.0 */
/* Reads JSON objects into structs, by tables of their members, and completes the cells that
 * importers add. Private to analysis/import/. */
#pragma once

#include "analysis/import/import.h"
#include "base/json/json_scan.h"

enum member_kind {
    MEMBER_NUMBER = 1, /* a double, times `scale` */
    MEMBER_TEXT,
    MEMBER_OBJECT,  /* read by `members`, into the struct that begins at `offset` */
    MEMBER_READ,    /* read by the function `read`, which consumes the value */
    MEMBER_IGNORED, /* known, but not used: not stored at all */
};

struct import_member {
    const char *name; /* NULL: the table's end */
    enum member_kind kind;
    size_t offset, size; /* size: for a text */
    double scale;
    const struct import_member *members;
    bool (*read)(struct json_scan *scan, void *base);
};

#define MEMBER_NUMBER_AT(name, type, member, scale)                                                \
    {                                                                                              \
        name, MEMBER_NUMBER, offsetof(struct type, member), 0, scale, NULL, NULL                   \
    }
#define MEMBER_TEXT_AT(name, type, member)                                                         \
    {                                                                                              \
        name, MEMBER_TEXT, offsetof(struct type, member), sizeof((struct type *)0)->member, 0,     \
            NULL, NULL                                                                             \
    }
#define MEMBER_INSIDE(name, at, table)                                                             \
    {                                                                                              \
        name, MEMBER_OBJECT, at, 0, 0, table, NULL                                                 \
    }
#define MEMBER_BY(name, function)                                                                  \
    {                                                                                              \
        name, MEMBER_READ, 0, 0, 0, NULL, function                                                 \
    }

#define MEMBER_IGNORE(name)                                                                        \
    {                                                                                              \
        name, MEMBER_IGNORED, 0, 0, 0, NULL, NULL                                                  \
    }

/* Mean, deviation, percentiles and so on, under the names that other tools use, for a struct
 * evidence_latency; from milliseconds and from seconds. */
extern const struct import_member latency_ms_members[], latency_s_members[];

/* Begins a scan of another tool's file: Python's NaN and Infinity are read as null. */
void import_scan_init(struct json_scan *scan, const char *bytes, size_t length);

/* Reads the next value, an object, into `base`, by the table. A value that is not an object is
 * skipped, also where the table has a row for an object. Members that are not in the table, or
 * whose number or text does not fit its row, are skipped, too. Of these, `unknown` (NULL: not
 * wanted) receives at most 128 per object, except nulls, as text, truncated if long (a string of
 * 4,096 bytes or more: ""), and "(more)" if there were more. Members of nested objects are named
 * "object.member" there. False: the JSON is invalid (json_scan_fail reports it), or a row's `read`
 * returned false. */
bool import_object(struct json_scan *scan, const struct import_member *members, void *base,
                   json_t *unknown);
/* Skips the value that `token` begins. If it is a text, not empty, and *error is NULL, sets *error
 * to a copy on the heap; a text of 1,000 bytes or more is replaced by a sentence that says that it
 * was too long. False: the JSON is invalid. */
bool import_skip_error(struct json_scan *scan, enum json_scan_token token, char **error);
/* Skips the value that `token` begins. False: the JSON is invalid. */
bool import_skip(struct json_scan *scan, enum json_scan_token token);
/* Calls `each` before every element of the next value, an array; `each` consumes the element. A
 * value that is not an array is skipped. False: the JSON is invalid, or `each` returned false. */
bool import_array(struct json_scan *scan, bool (*each)(struct json_scan *scan, void *context),
                  void *context);

/* If the document is a list, enters it, up to its first element. */
void import_enter_list(struct json_scan *scan);
/* Whether the document, or its first element if it is a list, is an object that has all these keys
 * (ends with NULL). */
bool import_has_keys(const char *bytes, size_t length, const char *const *keys);
/* Returns how many of the keys that object has, sets *count to the number of keys, and adds the
 * names of the missing ones to `missing`. 0 if there is no such object. */
size_t import_count_keys(const char *bytes, size_t length, const char *const *keys, size_t *count,
                         struct text *missing);
/* Finds a member of that object; *value is its text as written, of *size bytes. False: none was
 * found; *value and *size are then undefined. */
bool import_find_member(const char *bytes, size_t length, const char *name, const char **value,
                        size_t *size);
/* Calls `read` for each object of a file: the objects follow one another (JSONL, or results that a
 * tool appended), or are in lists. `line` is where the object begins. INVALID: the JSON is
 * invalid, or a document is not an object; else the error is that of `read`. */
CHECKED bool import_documents(const char *bytes, size_t length,
                              CHECKED bool (*read)(void *context, const char *document, size_t size,
                                                   int64_t line, struct error *error),
                              void *context, struct error *error);

/* What our own exports add, apart from marks and variant, which are read into the cell, and the
 * run, which is not used. */
struct import_own {
    double context;
    char context_unit[16], format[16], tool[96];
};
/* The rows for all members that our own exports add, for a struct that has a `cell` and an `own`.
 */
#define OWN_MEMBERS(type)                                                                          \
    MEMBER_TEXT_AT("opsbrain_marks", type, cell.marks),                                            \
        MEMBER_TEXT_AT("opsbrain_variant", type, cell.variant),                                    \
        MEMBER_NUMBER_AT("opsbrain_context", type, own.context, 1),                                \
        MEMBER_TEXT_AT("opsbrain_context_unit", type, own.context_unit),                           \
        MEMBER_TEXT_AT("opsbrain_format", type, own.format),                                       \
        MEMBER_TEXT_AT("opsbrain_tool", type, own.tool), MEMBER_IGNORE("opsbrain_run")
void import_own_init(struct import_own *own);
/* If one of our exporters wrote the file, sets the tool that made the measurement, and, if the
 * input length is not counted in tokens, the cell's input length and its unit. */
void import_own_apply(const struct import_own *own, struct evidence_cell *cell,
                      struct evidence *out);
/* Whether our exporter of this format wrote the file. */
bool import_is_own(const char *bytes, size_t length, const char *format);

/* Adds a cell; INVALID: there are too many. */
CHECKED bool import_cell(struct evidence *evidence, struct evidence_cell **out,
                         struct error *error);
/* The state that the word at the text's beginning ("ok", "OOM", "timeout", ...) stands for;
 * EVIDENCE_UNKNOWN: the text begins with no such word. */
enum evidence_state import_state_of(const char *status);
/* Whether a throughput of requests or output tokens, or a mean or median latency, is above 0. */
bool import_has_speed(const struct evidence_cell *cell);
/* Computes the figures that follow from others (failed = attempted - succeeded, ...), the state if
 * it is unknown, and the flags of the warnings in `marks`. A success rate outside 0 to 1 becomes
 * unknown, and so does a latency whose mean, minimum, maximum and percentiles are all zero or
 * unknown, at least one of them zero. */
void import_complete_cell(struct evidence_cell *cell);
/* Adds a remark that lists the figures that are only in the originals, since a cell has no member
 * for them. */
void import_list_unknown(struct evidence *evidence);
