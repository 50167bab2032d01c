/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/trace.h"

#include <stddef.h>
#include <string.h>

#define FORM "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
#define ID_AT 3
#define PARENT_AT 36
#define PARENT_LENGTH 16
#define LENGTH (sizeof FORM - 1)

static bool has_form(const char *text)
{
    for (size_t i = 0; i < LENGTH; i++)
        if (FORM[i] == '-' ? text[i] != '-'
                           : text[i] == '\0' || strchr("0123456789abcdef", text[i]) == NULL)
            return false;
    return true;
}

static bool is_zero(const char *digits, size_t length)
{
    return strspn(digits, "0") >= length;
}

/* In a version after 00, the header can be longer. Version ff is invalid. */
static bool has_version(const char *text)
{
    if (strncmp(text, "00", 2) == 0)
        return text[LENGTH] == '\0';
    return strncmp(text, "ff", 2) != 0 && (text[LENGTH] == '\0' || text[LENGTH] == '-');
}

bool trace_id_read(const char *traceparent, char out[TRACE_ID_SIZE])
{
    if (traceparent == NULL || !has_form(traceparent) || !has_version(traceparent)
        || is_zero(traceparent + ID_AT, TRACE_ID_SIZE - 1)
        || is_zero(traceparent + PARENT_AT, PARENT_LENGTH))
        return false;
    memcpy(out, traceparent + ID_AT, TRACE_ID_SIZE - 1);
    out[TRACE_ID_SIZE - 1] = '\0';
    return true;
}
