/* SPDX-License-Identifier: Apache-2.0 */
/* Updates the registry of model servers after a plan was carried out. */
#include <stdio.h>
#include <string.h>

#include "fleet/managed/apply_private.h"
#include "store/ledger/deployments.h"
#include "store/series/scrapes.h"

static void fill_deployment(const struct apply *apply, struct deployment *out)
{
    const struct recipe *recipe = apply->plan.desired.recipe;

    text_copy(out->name, sizeof out->name, apply->plan.row.deployment);
    text_copy(out->url, sizeof out->url, apply->plan.observed.address);
    text_copy(out->provider, sizeof out->provider, apply->plan.row.target);
    text_copy(out->region, sizeof out->region, apply->plan.observed.place);
    text_copy(out->created_by, sizeof out->created_by, apply->plan.row.principal);
    if (recipe == NULL)
        return;
    text_copy(out->quantization, sizeof out->quantization, recipe->quantization);
    text_copy(out->engine, sizeof out->engine, recipe->engine);
    if (recipe->hardware[0] != '\0')
        snprintf(out->hardware, sizeof out->hardware, "%lldx%s", (long long)recipe->chips,
                 recipe->hardware);
    out->chips = recipe->chips;
}

/* Copies the address and, after an update, the values from the recipe. Returns true if this changed
 * something that measurements depend on. */
static bool copy_values(const struct apply *apply, const struct deployment *wanted,
                        struct deployment *row)
{
    const struct deployment before = *row;

    text_copy(row->url, sizeof row->url, wanted->url);
    if (apply_is(apply, VERB_UPDATE)) {
        memcpy(row->quantization, wanted->quantization, sizeof row->quantization);
        memcpy(row->engine, wanted->engine, sizeof row->engine);
        memcpy(row->hardware, wanted->hardware, sizeof row->hardware);
        row->chips = wanted->chips;
    }
    return !deployment_measures_same(&before, row);
}

/* The deployment might already be registered, from before the plan or from before a crash. */
static CHECKED bool add_or_change(const struct apply *apply, struct deployment *out,
                                  struct error *error)
{
    struct store *store = apply->frame->store;
    struct deployment wanted = { .labels = "{}", .limits = "{}" };
    int64_t now_ms = apply->frame->now_ms();

    fill_deployment(apply, &wanted);
    if (!deployment_find(store, wanted.name, out, error))
        return error->kind == ERROR_NOT_FOUND
               && deployment_add(store, &wanted, now_ms, NULL, out, error);
    if (!copy_values(apply, &wanted, out))
        return true;
    text_copy(out->created_by, sizeof out->created_by, wanted.created_by);
    return deployment_change(store, out, now_ms, NULL, out, error);
}

/* Registers the deployment if it has an address: it can then be queried, scraped and measured. */
static CHECKED bool register_running(const struct apply *apply, struct error *error)
{
    struct deployment row;

    if (apply->plan.observed.address[0] == '\0')
        return true;
    return add_or_change(apply, &row, error)
           && ((!apply_is(apply, VERB_CREATE) && !apply_is(apply, VERB_START))
               || scrape_target_set(apply->frame->store, row.id, SCRAPE_USUAL_MS, NULL, error));
}

/* Stops scraping the deployment and, if it was destroyed, retires it. Its measurements are kept. */
static CHECKED bool unregister_ended(const struct apply *apply, struct error *error)
{
    struct store *store = apply->frame->store;
    struct deployment row;

    if (!deployment_find(store, apply->plan.row.deployment, &row, error))
        return error->kind == ERROR_NOT_FOUND;
    return scrape_target_set(store, row.id, 0, NULL, error)
           && (apply_is(apply, VERB_STOP)
               || deployment_retire(store, row.name, apply->frame->now_ms(), NULL, error));
}

bool apply_keep_registered(const struct apply *apply, struct error *error)
{
    return apply_is(apply, VERB_STOP) || apply_is(apply, VERB_DESTROY)
               ? unregister_ended(apply, error)
               : register_running(apply, error);
}
