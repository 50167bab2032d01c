/* SPDX-License-Identifier: Apache-2.0 */
/* Imports result files, and checks the remarks on them or, for refused files, the error message. */
#pragma once

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/import/import.h"
#include "base/core/memory.h"
#include "tests/unit/support/published.h"

/* Imports a file with this text. `format`: NULL if it is to be detected. `columns`: see
 * struct import_file; can be NULL. */
static inline void import_stated(const char *text, const char *format, const char *const *columns,
                                 struct evidence *out)
{
    const struct import_file file = {
        .bytes = text, .length = strlen(text), .format = format, .columns = columns
    };
    struct error error;

    if (!import_read_file(&file, out, &error))
        fail_msg("%s", error.message);
}

static inline void import_text(const char *text, struct evidence *out)
{
    import_stated(text, NULL, NULL, out);
}

/* Imports a file from tests/data/imports, and checks that its format is recognized as `format`. */
static inline void import_fixture(const char *name, const char *format, struct evidence *out)
{
    TEXT_AUTO bytes = { 0 };

    file_read(SOURCE_DIR "/tests/data/imports", name, &bytes);
    import_text(text_string(&bytes), out);
    assert_string_equal(out->format, format);
    assert_true(out->imported);
    assert_int_equal(strlen(out->digest), 64);
}

/* Checks that a file with this text is refused, and that the error message contains `words`. */
static inline void refuses_stated(const char *text, const char *format, const char *const *columns,
                                  const char *words)
{
    const struct import_file file = {
        .bytes = text, .length = strlen(text), .format = format, .columns = columns
    };
    EVIDENCE_AUTO evidence;
    struct error error;

    assert_false(import_read_file(&file, &evidence, &error));
    assert_int_equal(error.kind, ERROR_INVALID);
    if (strstr(error.message, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.message, words);
}

static inline void refuses(const char *text, const char *format, const char *words)
{
    refuses_stated(text, format, NULL, words);
}

static inline bool has_remark(const struct evidence *evidence, const char *words)
{
    const json_t *remark;
    size_t i;

    json_array_foreach(evidence->remarks, i, remark) {
        if (strstr(json_string_value(remark), words) != NULL)
            return true;
    }
    return false;
}

/* Checks that a remark contains `words`. */
static inline void remarks(const struct evidence *evidence, const char *words)
{
    FREE_AUTO char *all = json_dumps(evidence->remarks, JSON_ENCODE_ANY);

    if (!has_remark(evidence, words))
        fail_msg("no remark says \"%s\": %s", words, all);
}

/* Checks that two figures are equal except for rounding. */
static inline void is_near(double actual, double expected)
{
    if (!(fabs(actual - expected) <= 1e-9 * fmax(1, fabs(expected))))
        fail_msg("got %.12g, expected %.12g", actual, expected);
}
