/* SPDX-License-Identifier: Apache-2.0 */
/* Data that the load threads of one cell share: what to send, and the phase, which the controlling
 * thread advances. */
#pragma once

#include <semaphore.h>
#include <stdatomic.h>

#include "bench/load/connection_reuse.h"
#include "bench/load/load_credential.h"
#include "bench/load/target_address.h"
#include "bench/plan/arrivals.h"
#include "bench/workload/prompt_source.h"

enum phase {
    /* One user of the first thread sends the probes, one after the other: as many as `probes` in
     * struct load says. */
    PHASE_PROBE,
    /* Every user sends its next request when the previous one has ended and its think time or pause
     * is over; in an open loop, requests are sent when the schedule says. */
    PHASE_LOAD,
    PHASE_DRAIN, /* no new requests; those in flight are allowed to end */
    PHASE_ABORT, /* requests in flight are cut off */
};

struct load {
    const struct endpoint *endpoint;
    struct load_credential *_Atomic credential; /* sent instead of endpoint->bearer; NULL: none */
    const struct prompt_source *prompts;
    const struct workload *workload;
    uint64_t nonce;         /* the attempt's, for request ids and random think times */
    int64_t output_tokens;  /* per request; if they vary, their mean */
    int64_t context_tokens; /* the model's context length; 0: not known */
    int64_t ttft_timeout_ns, idle_timeout_ns, request_timeout_ns;
    int64_t goodput_ttft_ns, goodput_tpot_ns; /* 0: no limit */
    const struct target_address *target;
    struct connection_reuse *reuse;  /* for the endpoint; never NULL */
    bool only_libcurl;               /* use libcurl for plain HTTP/1.1, too */
    const struct arrivals *arrivals; /* for an open loop; NULL: a closed one */
    int64_t think_ns;                /* mean think time in a closed loop; 0: none */
    bool thinks_exponential;         /* think times are exponentially distributed, else constant */
    int64_t http2_streams;           /* limit on requests in flight per connection; 0: HTTP/1.1 */

    atomic_int_fast64_t arrivals_ns; /* when the arrivals begin; set before the phase is LOAD */
    atomic_int_fast64_t stagger_ns;  /* the starts of users are spread over this time */
    _Atomic enum phase phase;
    atomic_int_fast64_t probes;    /* how many the controlling thread has asked for so far */
    atomic_uint_fast64_t requests; /* requests begun so far: the index of the next one */
    /* The bounds of the measured window (monotonic); INT64_MAX: not set yet. In a closed loop, a
     * bound is set when a request ends, so that the window of a single user contains whole
     * requests: the controlling thread asks for the bound, and the load thread in which the next
     * request ends sets it. If none ends soon, the controlling thread sets the bound. In an open
     * loop, the window contains the requests that are due in it, and the controlling thread sets
     * the bounds in advance. */
    atomic_int_fast64_t window_start_ns, window_end_ns;
    atomic_bool window_start_asked, window_end_asked;
    /* > 0: the window ends when this many more requests have ended in it */
    atomic_int_fast64_t window_left;
    sem_t news; /* posted to wake the controlling thread (load_notify) */
};

static inline bool load_in_window(const struct load *load, int64_t at_ns)
{
    return at_ns >= atomic_load_explicit(&load->window_start_ns, memory_order_relaxed)
           && at_ns < atomic_load_explicit(&load->window_end_ns, memory_order_relaxed);
}

/* Wakes the controlling thread: a probe or a load thread has ended, or a bound of the window has
 * been set. */
static inline void load_notify(struct load *load)
{
    sem_post(&load->news);
}

static inline void load_start_window(struct load *load, int64_t at_ns)
{
    atomic_store(&load->window_start_ns, at_ns);
    load_notify(load);
}

/* Once set, the window's end does not change. */
static inline void load_end_window(struct load *load, int64_t at_ns)
{
    int_fast64_t unset = INT64_MAX;

    atomic_compare_exchange_strong(&load->window_end_ns, &unset, at_ns);
    load_notify(load);
}

/* Called when a request has ended at at_ns. Sets the window's end just after at_ns if this is the
 * last of `window_left`; otherwise sets the bound, if any, for which the controlling thread has
 * asked. Thus the request is the last one in the window, or the last one before it. */
static inline void load_request_ended(struct load *load, int64_t at_ns)
{
    if (load_in_window(load, at_ns)
        && atomic_load_explicit(&load->window_left, memory_order_relaxed) > 0
        && atomic_fetch_sub(&load->window_left, 1) == 1)
        load_end_window(load, at_ns + 1);
    else if (atomic_load_explicit(&load->window_start_asked, memory_order_relaxed)
             && atomic_exchange(&load->window_start_asked, false))
        load_start_window(load, at_ns + 1);
    else if (atomic_load_explicit(&load->window_end_asked, memory_order_relaxed)
             && atomic_exchange(&load->window_end_asked, false))
        load_end_window(load, at_ns + 1);
}
