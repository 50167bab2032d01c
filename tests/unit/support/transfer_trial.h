/* SPDX-License-Identifier: Apache-2.0 */
/* The exchanges between one simulated user and a server that follows a script, through libcurl or
 * our own HTTP/1.1 client, for the tests of bench/load/transfer.c. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/core/clock.h"
#include "base/net/outbound.h"
#include "bench/load/transfer.h"
#include "tests/unit/support/script_server.h"

#define PATIENCE_NS 20000000000

/* One user, its server, and what the user received. */
struct trial {
    struct script_server server;
    struct endpoint endpoint;
    struct workload workload;
    struct target_address target;
    struct connection_reuse reuse;
    struct load load;
    struct load_loop loop;
    struct transfer *transfer;
    struct text received; /* "<STATUS CONTENT-TYPE>", then the body */
    unsigned sends;
    size_t limit; /* the user stops once `received` has this many bytes; 0: never */
};

static inline void on_send(void *context, int64_t now_ns)
{
    struct trial *trial = context;

    assert_true(now_ns > 0);
    trial->sends++;
}

static inline void on_head(void *context, long status, const char *content_type)
{
    struct trial *trial = context;

    text_addf(&trial->received, "<%ld %s>", status, content_type);
}

static inline bool on_bytes(void *context, const char *bytes, size_t length, int64_t now_ns)
{
    struct trial *trial = context;

    assert_true(now_ns > 0);
    text_add_bytes(&trial->received, bytes, length);
    return trial->limit == 0 || trial->received.length < trial->limit;
}

static inline void note_late(void *context, int64_t late_ns)
{
    (void)context, (void)late_ns;
}

static inline void set_up(struct trial *trial, const struct script_step *steps, bool by_libcurl)
{
    static const struct transfer_listener listener = { on_send, on_head, on_bytes };
    struct error error;

    *trial = (struct trial){ .workload.api = BENCH_COMPLETIONS };
    script_start(&trial->server, steps);
    snprintf(trial->endpoint.url, sizeof trial->endpoint.url, "http://127.0.0.1:%d/base",
             trial->server.port);
    assert_true(target_address_resolve(&trial->endpoint, &trial->target, &error));
    trial->load = (struct load){ .endpoint = &trial->endpoint,
                                 .workload = &trial->workload,
                                 .target = &trial->target,
                                 .reuse = &trial->reuse,
                                 .only_libcurl = by_libcurl };
    load_credential_set(&trial->load, "a-secret");
    assert_true(load_loop_init(&trial->loop, 4, note_late, trial, &error));
    assert_true(
        transfer_create(&trial->load, &trial->loop, &listener, trial, &trial->transfer, &error));
    memset(trial->transfer->request_id, 'f', REQUEST_ID_LENGTH);
}

static inline void tear_down(struct trial *trial)
{
    transfer_destroy(trial->transfer);
    load_credential_finish(&trial->load);
    load_loop_finish(&trial->loop);
    target_address_finish(&trial->target);
    text_finish(&trial->received);
    script_stop(&trial->server);
}

/* Runs one turn of the loop, which waits at most 10 ms. */
static inline void turn(struct trial *trial)
{
    load_loop_turn(&trial->loop, clock_monotonic_ns() + 10000000);
}

static inline void wait_for_end(struct trial *trial)
{
    int64_t until_ns = clock_monotonic_ns() + PATIENCE_NS;
    struct transfer *ended;

    while ((ended = transfer_take_ended(&trial->loop)) == NULL) {
        turn(trial);
        if (clock_monotonic_ns() > until_ns)
            fail_msg("the exchange did not end");
    }
    assert_ptr_equal(ended, trial->transfer);
    transfer_end(ended);
}

static inline void begin(struct trial *trial, struct bench_prompt *prompt, bool is_fresh)
{
    text_clear(&trial->received);
    trial->sends = 0;
    prompt_source_rewind(prompt);
    transfer_begin(trial->transfer, prompt, is_fresh);
}

static inline void exchange(struct trial *trial, bool is_fresh)
{
    struct bench_prompt prompt = { .parts = { { "{\"a\":", 5 }, { "1", 1 }, { "}", 1 }, { "", 0 } },
                                   .length = 7 };

    begin(trial, &prompt, is_fresh);
    wait_for_end(trial);
}

#define OK "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
#define CHUNKED OK "Transfer-Encoding: chunked\r\n\r\n"
#define WHOLE OK "Content-Length: 4\r\n\r\nfour"
