/* SPDX-License-Identifier: Apache-2.0 */
/* Why something failed: a kind, which the protocol layer translates, and an error message for
 * people. */
#pragma once

#include <stdbool.h>

enum error_kind {
    ERROR_NONE,
    ERROR_INVALID,         /* the caller's input is wrong */
    ERROR_UNAUTHENTICATED, /* the caller is not authenticated */
    ERROR_FORBIDDEN,       /* the caller is not allowed to do this */
    ERROR_NOT_FOUND,       /* what the caller named does not exist */
    ERROR_CONFLICT,        /* the state does not allow this, or another process took over */
    ERROR_BUSY,            /* not now (a queue is full, a lock is held, ...): try again later */
    ERROR_TIMEOUT,         /* a deadline passed */
    ERROR_CANCELLED,       /* stopped by the caller, the user or the server's shutdown */
    ERROR_UNSUPPORTED,     /* not possible here, or not with the caller's client */
    ERROR_INPUT_REQUIRED,  /* a question must be answered first */
    ERROR_UPSTREAM,        /* something outside (a model server, a cloud, a client) failed */
    ERROR_INTERNAL,        /* an internal fault: logged in full; clients see "internal error" */
};

struct error {
    enum error_kind kind;
    char message[480];
};

/* For functions that report failure in a `struct error *` and by their result: the compiler warns
 * if a caller ignores the result (tests/check_results.sh finds declarations that lack CHECKED). */
#define CHECKED __attribute__((warn_unused_result))
/* Ignores a result that does not matter to the caller. */
static inline void error_ignore(bool done)
{
    (void)done;
}

/* Fills `error` and returns false, so that a failing function can end in one line. */
bool error_set(struct error *error, enum error_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#ifdef __clang_analyzer__ /* the analyzer cannot see that error_set always returns false */
#define error_set(...) (error_set(__VA_ARGS__) && false)
#endif

/* The kind's short name for logs, results and the audit log ("invalid", "not_found", ...). */
const char *error_kind_name(enum error_kind kind);
enum error_kind error_kind_find(const char *name); /* INTERNAL if there is no such name */
