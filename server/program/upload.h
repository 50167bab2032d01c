/* SPDX-License-Identifier: Apache-2.0 */
/* POST /v1/imports: the results of another tool as a file, streamed to the disk and read from
 * there. The query has the other arguments of run_import: name, format, model, ... */
#pragma once

#include <stdatomic.h>
#include <stddef.h>

#include "server/http/routes.h"

struct notifier;
struct services;
struct settings;
struct workers;

#define UPLOAD_LIMIT_BYTES ((size_t)64 << 20)

/* The parts that uploads need; borrowed. */
struct uploads {
    const struct settings *settings;
    const struct services *services;
    struct notifier *notifier;
    struct workers *workers;
    atomic_int count; /* files that are being received or read */
};

/* POST /v1/imports answers as run_import does, 201 for a new run, 200 for one that was known
 * already; POST /v1/datasets as dataset_import. Their context: struct uploads. */
extern const struct route upload_routes[];
