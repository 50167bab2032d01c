/* SPDX-License-Identifier: Apache-2.0 */
/* What the files in fleet/managed/ need from the process. These files know no provider by name, and
 * call clouds only through the functions here and those of the providers. They borrow this
 * struct. */
#pragma once

#include <stdatomic.h>

#include "base/core/random.h"
#include "base/llm/catalog.h"
#include "fleet/providers/provider.h"
#include "fleet/recipes/price_book.h"
#include "store/fleet/fleet_managed.h"
#include "store/fleet/fleet_plans.h"

struct fleet_frame {
    struct store *store;
    const struct catalog *catalog;
    const struct provider *const *providers; /* ends with NULL */
    char instance[ID_SIZE]; /* this database's id, a label on everything that opsbrain creates */
    /* True after the database was moved or restored: clouds are then only read, until an admin runs
     * `opsbrain fleet resume`. NULL: always false. */
    const atomic_bool *only_reads;
    void *context; /* for the functions below */
    /* Finds the target's cloud, with the target's credential. *out is valid until the process
     * ends. */
    CHECKED bool (*cloud)(void *context, const struct fleet_target *target, struct cloud **out,
                          struct error *error);
    /* Like cloud_call. */
    CHECKED bool (*call)(struct cloud *cloud, const char *method, const char *url,
                         const char *content_type, const json_t *body, struct cloud_reply *out,
                         struct error *error);
    /* Reads the recipe `name`. NOT_FOUND if there is none. Free with recipe_finish. */
    CHECKED bool (*recipe)(void *context, const char *name, struct recipe *out,
                           struct error *error);
    /* Like recipe_fit_check. */
    CHECKED bool (*fit)(const struct recipe *recipe, const struct catalog *catalog,
                        struct error *error);
    void (*price)(void *context, const struct recipe *recipe, const char *place, const char *kind,
                  struct price *out);
    int64_t (*now_ms)(void);
    int64_t pause_ms; /* between the first two polls; later pauses are up to 8 times as long */
    /* How long a server may take to become ready, once it has capacity. The time that a recipe's
     * startup probe allows is added to this. */
    int64_t patience_ms;
};
