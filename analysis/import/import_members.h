/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of JSON read into structs by a table of their members. Private to analysis/import/. */
#pragma once

#include "analysis/import/import.h"
#include "base/json/json_scan.h"

enum member_kind {
    MEMBER_NUMBER, /* a double, times `scale` */
    MEMBER_TEXT,
    MEMBER_OBJECT, /* by `members`, into what begins at `offset` */
    MEMBER_READ,   /* by the function, which takes the whole value */
    MEMBER_PASSED, /* known, and no figure of ours: not kept either */
};

struct import_member {
    const char *name; /* NULL: the table's end */
    enum member_kind kind;
    size_t offset, size; /* size: of a text */
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

#define MEMBER_PASS(name)                                                                          \
    {                                                                                              \
        name, MEMBER_PASSED, 0, 0, 0, NULL, NULL                                                   \
    }

/* Mean, deviation, percentiles and so on under the names that tools give them, into a struct
 * evidence_latency; as milliseconds and as seconds. */
extern const struct import_member latency_ms_members[], latency_s_members[];

/* A scan of a file that another tool wrote: Python's NaN and Infinity are taken for null. */
void import_scan_init(struct json_scan *scan, const char *bytes, size_t length);

/* Reads the next value, an object, by the table; another value is passed over, and so is a member
 * that is not of the table or not of its kind. `unknown` (NULL: not wanted) gets these members as
 * text, cut where it is long, those of objects within as "object.member". False: the JSON is wrong
 * (json_scan_fail tells). */
bool import_object(struct json_scan *scan, const struct import_member *members, void *base,
                   json_t *unknown);
/* Passes over the value that `token` begins. */
bool import_skip(struct json_scan *scan, enum json_scan_token token);
/* Calls `each` before every element of the next value, an array; it reads the whole element.
 * Another value is passed over. False: the JSON is wrong, or `each` said so. */
bool import_array(struct json_scan *scan, bool (*each)(struct json_scan *scan, void *context),
                  void *context);

/* Into the list that the document may be: to before its first element. */
void import_enter_list(struct json_scan *scan);
/* Has the document's first object, or the first of the list that it is, all these keys (ends with
 * NULL)? */
bool import_has_keys(const char *bytes, size_t length, const char *const *keys);
/* How many of them, of *count; `missing` gets the names of the others. */
size_t import_count_keys(const char *bytes, size_t length, const char *const *keys, size_t *count,
                         struct text *missing);
/* The value of one of its members, as it is written. */
bool import_find_member(const char *bytes, size_t length, const char *name, const char **value,
                        size_t *size);
/* Calls `read` with each of several objects that stand one behind the other (JSONL, or results that
 * a tool appended) or in a list, `line` being where it begins. */
CHECKED bool import_documents(const char *bytes, size_t length,
                              bool (*read)(void *context, const char *document, size_t size,
                                           int64_t line, struct error *error),
                              void *context, struct error *error);

/* What our own exports add, of a struct that has a cell and an `own`. */
struct import_own {
    double context;
    char context_unit[16], format[16], tool[96];
};
#define OWN_MEMBERS(type)                                                                          \
    MEMBER_TEXT_AT("opsbrain_marks", type, cell.marks),                                            \
        MEMBER_TEXT_AT("opsbrain_variant", type, cell.variant),                                    \
        MEMBER_NUMBER_AT("opsbrain_context", type, own.context, 1),                                \
        MEMBER_TEXT_AT("opsbrain_context_unit", type, own.context_unit),                           \
        MEMBER_TEXT_AT("opsbrain_format", type, own.format),                                       \
        MEMBER_TEXT_AT("opsbrain_tool", type, own.tool), MEMBER_PASS("opsbrain_run")
void import_own_init(struct import_own *own);
/* A context that is not counted in tokens, and what measured it, which was not the format's tool.
 */
void import_own_take(const struct import_own *own, struct evidence_cell *cell,
                     struct evidence *out);
/* Did our exporter of this format write the file? */
bool import_is_own(const char *bytes, size_t length, const char *format);

/* A new cell, or INVALID: there are too many. */
CHECKED bool import_cell(struct evidence *evidence, struct evidence_cell **out,
                         struct error *error);
/* The state that a word for one begins with ("ok", "OOM", "timeout", ...); EVIDENCE_UNKNOWN: none.
 */
enum evidence_state import_state_of(const char *status);
bool import_has_speed(const struct evidence_cell *cell);
/* Derives what follows by arithmetic alone (failed = attempted - succeeded, ...), and the state; a
 * latency whose figures are all zero is not known. */
void import_settle(struct evidence_cell *cell);
/* Remarks the figures that stand in the originals because no member of a cell takes them. */
void import_tell_unknown(struct evidence *evidence);
