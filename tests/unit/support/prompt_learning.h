/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out from a server how to make prompts for it, or asserts that the attempt fails. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/workload/prompt_calibration.h"

static inline bool never_stopped(void *context)
{
    (void)context;
    return false;
}

static inline void learn(int port, enum bench_api api, struct workload *out)
{
    struct endpoint endpoint = { .model = "simserve/toy" };
    const struct asker asker = { &endpoint, never_stopped, NULL };
    struct error error = { 0 };

    snprintf(endpoint.url, sizeof endpoint.url, "http://127.0.0.1:%d", port);
    if (!prompt_calibration_workload(&asker, api, "", out, &error))
        fail_msg("%s", error.message);
}

static inline void must_not_learn(int port, enum bench_api api, const char *because)
{
    struct endpoint endpoint = { .model = "simserve/toy" };
    const struct asker asker = { &endpoint, never_stopped, NULL };
    struct workload workload;
    struct error error = { 0 };

    snprintf(endpoint.url, sizeof endpoint.url, "http://127.0.0.1:%d", port);
    assert_false(prompt_calibration_workload(&asker, api, "", &workload, &error));
    if (strstr(error.message, because) == NULL)
        fail_msg("'%s' does not contain '%s'", error.message, because);
}
