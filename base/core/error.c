/* SPDX-License-Identifier: Apache-2.0 */
#include "base/core/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool(error_set)(struct error *error, enum error_kind kind, const char *format, ...)
{
    char message[sizeof error->message]; /* not error->message, which can be one of the arguments */
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    error->kind = kind;
    memcpy(error->message, message, sizeof message);
    return false;
}

static const char *const names[] = {
    [ERROR_NONE] = "none",
    [ERROR_INVALID] = "invalid",
    [ERROR_UNAUTHENTICATED] = "unauthenticated",
    [ERROR_FORBIDDEN] = "forbidden",
    [ERROR_NOT_FOUND] = "not_found",
    [ERROR_CONFLICT] = "conflict",
    [ERROR_BUSY] = "busy",
    [ERROR_TIMEOUT] = "timeout",
    [ERROR_CANCELLED] = "cancelled",
    [ERROR_UNSUPPORTED] = "unsupported",
    [ERROR_INPUT_REQUIRED] = "input_required",
    [ERROR_UPSTREAM] = "upstream",
    [ERROR_INTERNAL] = "internal",
};

const char *error_kind_name(enum error_kind kind)
{
    return names[kind];
}

enum error_kind error_kind_find(const char *name)
{
    enum error_kind kind = ERROR_NONE;

    while (kind < ERROR_INTERNAL && strcmp(names[kind], name) != 0)
        kind++;
    return kind;
}
