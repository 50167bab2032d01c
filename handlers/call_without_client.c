/* SPDX-License-Identifier: Apache-2.0 */
/* The callbacks of a call whose client gets nothing but the answer. */
#include "handlers/call.h"

static void no_progress(struct call *call, double progress, double total, const char *message)
{
    (void)call;
    (void)progress;
    (void)total;
    (void)message;
}

static CHECKED bool nobody_to_ask(struct call *call, const struct question *questions, size_t count,
                                  json_t **answers, struct error *error)
{
    (void)call;
    (void)questions;
    (void)count;
    (void)answers;
    return error_set(error, ERROR_UNSUPPORTED,
                     "this call has no client that could answer questions");
}

static void no_stream(struct call *call)
{
    (void)call;
}

static void no_log(struct call *call, enum severity severity, const char *logger, json_t *data)
{
    (void)call;
    (void)severity;
    (void)logger;
    json_decref(data);
}

void call_without_client(struct call *call)
{
    call->progress = no_progress;
    call->ask = nobody_to_ask;
    call->close_stream = no_stream;
    call->log_take = no_log;
}
