/* SPDX-License-Identifier: Apache-2.0 */
/* POST /v1/imports and POST /v1/datasets. The body is a file, which is streamed to the disk and
 * read from there. The query has the other arguments of run_import (name, format, model, ...) or
 * dataset_import (name). */
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
    atomic_int count; /* how many files are being received or read */
};

/* The routes reply with the structured content that run_import or dataset_import returns. The
 * status is 201 for new content, and 200 for content that was already known. The routes' context:
 * struct uploads. */
extern const struct route upload_routes[];
