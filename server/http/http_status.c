/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/http_status.h"

unsigned http_status_of(const struct error *error)
{
    switch (error->kind) {
    case ERROR_FORBIDDEN:
        return 403;
    case ERROR_NOT_FOUND:
        return 404;
    case ERROR_CONFLICT:
        return 409;
    case ERROR_BUSY:
        return 503;
    case ERROR_INTERNAL:
        return 500;
    case ERROR_NONE:
    case ERROR_INVALID:
    case ERROR_UNAUTHENTICATED:
    case ERROR_TIMEOUT:
    case ERROR_CANCELLED:
    case ERROR_UNSUPPORTED:
    case ERROR_INPUT_REQUIRED:
    case ERROR_UPSTREAM:
        break;
    }
    return 400;
}
