/* SPDX-License-Identifier: Apache-2.0 */
/* Reads JSON objects into structs, using tables of their members, and completes the cells that
 * importers add. Private to analysis/import/. */
#pragma once

#include "analysis/import/import.h"
#include "base/json/json_scan.h"

enum member_kind {
    MEMBER_NUMBER = 1, /* stored as a double: the number in the file times `scale` */
    MEMBER_TEXT,
    MEMBER_OBJECT,  /* read by `members`, into the struct that begins at `offset` */
    MEMBER_READ,    /* read by the function `read`, which consumes the value */
    MEMBER_IGNORED, /* known, but not used: not stored at all */
};

struct import_member {
    const char *name; /* NULL: end of the table */
    enum member_kind kind;
    size_t offset; /* of the struct's member */
    size_t size;   /* of the struct's member, if it is a text, in bytes */
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

/* Tables for a struct evidence_latency: mean, deviation, percentiles and so on, under the names
 * that other tools use. The first reads values in milliseconds, the second in seconds. */
extern const struct import_member latency_ms_members[], latency_s_members[];

/* Begins a scan of another tool's file: Python's NaN and Infinity are read as null. */
void import_scan_init(struct json_scan *scan, const char *bytes, size_t length);

/* Reads the next value into `base`, as the table says. If it is not an object, it is skipped; so is
 * the value of a MEMBER_OBJECT that is not an object.
 *
 * A member is unknown if the table has no row for it, or if its value does not fit the row: the
 * type is wrong, or the number is negative or not finite. Unknown members are not stored in `base`.
 * Instead, `unknown` (NULL: not wanted) receives their values as text, except nulls: at most 128
 * per object, then "(more)". In `unknown`, a member of a nested object is named "object.member".
 *
 * A string that is too long for its place is truncated. A string of 4,096 bytes or more is not
 * copied at all: the struct's member stays as it was, and in `unknown` the value is "".
 *
 * False: the JSON is invalid (json_scan_fail reports it), or a row's `read` returned false. */
bool import_object(struct json_scan *scan, const struct import_member *members, void *base,
                   json_t *unknown);
/* Skips the value that begins with `token`, which was already read. If the value is a string that
 * is not empty, and *error is NULL, sets *error to a copy on the heap. For a string of 1,000 bytes
 * or more, *error says only that it was too long. False: the JSON is invalid. */
bool import_skip_error(struct json_scan *scan, enum json_scan_token token, char **error);
/* Skips the value that begins with `token`, which was already read. False: the JSON is invalid. */
bool import_skip(struct json_scan *scan, enum json_scan_token token);
/* Calls `each` for every element of the next value, an array. The element is then the scan's next
 * value, and `each` must consume it. A value that is not an array is skipped. False: the JSON is
 * invalid, or `each` returned false. */
bool import_array(struct json_scan *scan, bool (*each)(struct json_scan *scan, void *context),
                  void *context);

/* If the document is a list, moves the scan to its first element. */
void import_enter_list(struct json_scan *scan);
/* Whether the document, or its first element if it is a list, is an object that has all of `keys`,
 * a list that ends with NULL. */
bool import_has_keys(const char *bytes, size_t length, const char *const *keys);
/* Returns how many of the keys the same object has, or 0 if there is no such object. Sets *count to
 * the number of keys, and adds the names of the missing keys to `missing`. */
size_t import_count_keys(const char *bytes, size_t length, const char *const *keys, size_t *count,
                         struct text *missing);
/* Finds a member of the same object. *value is set to the value's text as written, and *size to its
 * length in bytes. False: no such member was found; *value and *size are then undefined. */
bool import_find_member(const char *bytes, size_t length, const char *name, const char **value,
                        size_t *size);
/* Calls `read` for each object in a file. The objects follow one another (JSONL, or results that a
 * tool appended) or are in lists. `line` is the line on which the object begins. INVALID: the JSON
 * is invalid, or a document is not an object; any other error is that of `read`. */
CHECKED bool import_documents(const char *bytes, size_t length,
                              CHECKED bool (*read)(void *context, const char *document, size_t size,
                                                   int64_t line, struct error *error),
                              void *context, struct error *error);

/* What our own exports add to another tool's format. They also add marks and a variant, which are
 * read into the cell, and a run id, which is ignored. */
struct import_own {
    double context; /* an input length that is not known to be in tokens; NaN: none is stated */
    char context_unit[16], format[16], tool[96];
};
/* Table rows for all members that our exports add, for a struct with a `cell` and an `own`. */
#define OWN_MEMBERS(type)                                                                          \
    MEMBER_TEXT_AT("opsbrain_marks", type, cell.marks),                                            \
        MEMBER_TEXT_AT("opsbrain_variant", type, cell.variant),                                    \
        MEMBER_NUMBER_AT("opsbrain_context", type, own.context, 1),                                \
        MEMBER_TEXT_AT("opsbrain_context_unit", type, own.context_unit),                           \
        MEMBER_TEXT_AT("opsbrain_format", type, own.format),                                       \
        MEMBER_TEXT_AT("opsbrain_tool", type, own.tool), MEMBER_IGNORE("opsbrain_run")
void import_own_init(struct import_own *own);
/* If one of our exporters wrote the file, sets the tool that made the measurement. If the file
 * states an input length that is not known to be in tokens, sets the cell's input length and the
 * unit. */
void import_own_apply(const struct import_own *own, struct evidence_cell *cell,
                      struct evidence *out);
/* Whether our exporter of this format wrote the file. */
bool import_is_own(const char *bytes, size_t length, const char *format);

/* Adds a cell; INVALID: there are too many. */
CHECKED bool import_cell(struct evidence *evidence, struct evidence_cell **out,
                         struct error *error);
/* Returns the state for the word with which the text begins ("ok", "OOM", "timeout", ...);
 * EVIDENCE_UNKNOWN: it does not begin with a known word. */
enum evidence_state import_state_of(const char *status);
/* Whether a throughput of requests or output tokens, or a mean or median latency, is above 0. */
bool import_has_speed(const struct evidence_cell *cell);
/* Computes the figures that follow from others (failed = attempted - succeeded, ...) and, if it is
 * unknown, the state. Sets the flags that belong to the warnings listed in the cell's `marks`. A
 * success rate outside 0 to 1 becomes unknown. A latency becomes unknown if its mean, minimum,
 * maximum and percentiles are all zero or unknown, and at least one of them is zero. */
void import_complete_cell(struct evidence_cell *cell);
/* If a cell's `original` (the row as in the file) has figures for which struct evidence_cell has no
 * member, adds a remark that lists their names. */
void import_list_unknown(struct evidence *evidence);
