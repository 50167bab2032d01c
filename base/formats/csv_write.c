/* SPDX-License-Identifier: Apache-2.0 */
#include "base/formats/csv_write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void csv_write_number(double value, struct text *out)
{
    char written[40];

    if (!isfinite(value))
        return;
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(written, sizeof written, "%.*g", digits, value);
        if (strtod(written, NULL) == value)
            break;
    }
    text_add(out, written);
}

static bool may_be_formula(const char *string)
{
    return string[0] != '\0' && strchr("=+-@\t\r", string[0]) != NULL;
}

void csv_write_text(const char *string, struct text *out)
{
    text_add(out, may_be_formula(string) ? "\"'" : "\"");
    for (; *string != '\0'; string++) {
        if (*string == '"')
            text_add_char(out, '"');
        text_add_char(out, *string);
    }
    text_add_char(out, '"');
}
