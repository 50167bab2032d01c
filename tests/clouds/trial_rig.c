/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/clouds/trial_rig.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/net/outbound.h"
#include "fleet/recipes/recipe_fit.h"
#include "tests/unit/support/test_database.h"

#define LIFE_S 7200
#define LONGER_LIFE_S 14400
#define PATIENCE_MS 150000
#define WAIT_MS 180000

static void must(bool done, const char *what, const struct error *error)
{
    if (done)
        return;
    fprintf(stderr, "%s: %s\n", what, error->message);
    abort();
}

/* ---- The frame's callbacks ---- */

static bool open_cloud(void *context, const struct fleet_target *target, struct cloud **out,
                       struct error *error)
{
    const struct trial_rig *rig = context;

    (void)target, (void)error;
    *out = rig->cloud;
    return true;
}

static bool find_recipe(void *context, const char *name, struct recipe *out, struct error *error)
{
    const struct trial_rig *rig = context;
    const struct recipe *found = recipe_book_find(rig->recipes, name);

    if (found == NULL)
        return error_set(error, ERROR_NOT_FOUND, "no recipe is named \"%s\"", name);
    if (!recipe_read(found->document, out, error))
        return false;
    out->origin = found->origin;
    return true;
}

static void find_price(void *context, const struct recipe *recipe, const char *place,
                       const char *kind, struct price *out)
{
    const struct trial_rig *rig = context;

    price_of(rig->prices, recipe, place, kind, out);
}

static enum job_end run_apply(struct job_run *run, char **outcome, struct error *error)
{
    return managed_apply_run(run->services, run, outcome, error);
}

static const struct job_kind kinds[] = { { JOB_KIND_APPLY, run_apply, 0 }, { 0 } };

/* ---- Opening and closing ---- */

static void write_credential(struct trial_rig *rig)
{
    char path[FOLDER_SIZE + sizeof rig->site.trial->target.credential_file + 1];
    FILE *file;

    if (rig->site.credential[0] == '\0')
        return;
    snprintf(path, sizeof path, "%s/%s", rig->secrets, rig->site.trial->target.credential_file);
    file = fopen(path, "w");
    if (file == NULL || fputs(rig->site.credential, file) < 0 || fclose(file) != 0)
        abort();
}

static void make_cloud(struct trial_rig *rig)
{
    const struct fleet_target_row *target = &rig->site.trial->target;
    struct cloud_credential credential = { .kind = cloud_kind_find(target->credential) };
    struct cloud_config config = { .secrets_folder = rig->secrets };
    struct error error;

    text_copy(credential.file, sizeof credential.file, target->credential_file);
    must(cloud_endpoints_create(rig->site.endpoints, &rig->endpoints, &error), "endpoints", &error);
    config.endpoints = rig->endpoints;
    config.machine = rig->site.machine;
    must(cloud_create(&credential, &config, &rig->cloud, &error), "credential", &error);
}

static void make_frame(struct trial_rig *rig)
{
    struct fleet_instance instance;
    struct error error;

    rig->frame = (struct fleet_frame){ .store = rig->store,
                                       .catalog = rig->catalog,
                                       .providers = provider_all(),
                                       .context = rig,
                                       .cloud = open_cloud,
                                       .call = cloud_call,
                                       .recipe = find_recipe,
                                       .price = find_price,
                                       .fit = recipe_fit_check,
                                       .now_ms = clock_utc_ms,
                                       .pause_ms = 1,
                                       .patience_ms = PATIENCE_MS };
    must(fleet_instance_read(rig->store, "here", &instance, &error), "instance", &error);
    text_copy(rig->frame.instance, sizeof rig->frame.instance, instance.id);
}

void trial_rig_open(struct trial_rig *rig, const struct trial *trial)
{
    struct fleet_target_row target = trial->target;
    struct error error = { 0 };
    bool changed;

    *rig = (struct trial_rig){ 0 };
    must(outbound_global_init(&error), "libcurl", &error);
    trial_site_start(&rig->site, trial);
    folder_create_in_memory(rig->folder);
    folder_create(rig->secrets);
    write_credential(rig);
    must(store_open(rig->folder, test_database(rig->folder), 2, &rig->store, &error)
             && catalog_create(&rig->catalog, &error)
             && recipe_book_create(rig->site.recipes, &rig->recipes, &error)
             && price_book_create(&rig->prices, &error),
         "store and catalogue", &error);
    make_cloud(rig);
    make_frame(rig);
    must(fleet_target_put(rig->store, &target, 1, NULL, &target, &changed, &error), "target",
         &error);
    must(job_pool_create(rig->store, kinds, 1, &rig->frame, &rig->jobs, &error), "jobs", &error);
}

void trial_rig_close(struct trial_rig *rig)
{
    job_pool_destroy(rig->jobs, 5000);
    store_close(rig->store);
    cloud_destroy(rig->cloud);
    cloud_endpoints_destroy(rig->endpoints);
    price_book_destroy(rig->prices);
    recipe_book_destroy(rig->recipes);
    catalog_destroy(rig->catalog);
    trial_site_stop(&rig->site);
    folder_remove(rig->folder);
    folder_remove(rig->secrets);
}

/* ---- Plans ---- */

static struct managed_wish wish_of(const struct trial_rig *rig, enum provider_verb verb,
                                   const json_t *overrides)
{
    bool makes = verb == VERB_CREATE;

    return (struct managed_wish){ .verb = verb,
                                  .deployment = TRIAL_DEPLOYMENT,
                                  .target = rig->site.trial->target.name,
                                  .recipe = makes ? rig->site.trial->recipe : "",
                                  .overrides = verb == VERB_UPDATE ? overrides : NULL,
                                  .place = "",
                                  .kind = "",
                                  .at_end = "",
                                  .replicas = verb == VERB_SCALE ? 2 : 0,
                                  .life_s = makes                 ? LIFE_S
                                            : verb == VERB_EXTEND ? LONGER_LIFE_S
                                                                  : 0 };
}

bool trial_rig_begin(struct trial_rig *rig, enum provider_verb verb, char plan_id[ID_SIZE],
                     char job_id[ID_SIZE], struct error *error)
{
    json_auto_t *overrides = json_pack("{s:i}", "max_num_seqs", 4);
    const struct managed_wish wish = wish_of(rig, verb, overrides);
    struct change change = { .actor = { "alice", "operator", "test/1", "req_1" },
                             .tool = "deployment_apply",
                             .arguments = "{}" };
    struct fleet_plan_begun begun;
    struct fleet_plan_row stored;
    struct managed_plan plan;
    char *text;
    bool done;

    if (!managed_plan_make(&rig->frame, &wish, &plan, error))
        return false;
    text = json_dumps(plan.wish, 0);
    must(fleet_plan_add(rig->store, &plan.row, &change, &stored, error), "plan", error);
    done = fleet_plan_begin(rig->store, stored.id, FLEET_WAY_PERSON, text, clock_utc_ms(), &change,
                            &begun, error);
    text_copy(plan_id, ID_SIZE, stored.id);
    if (done)
        text_copy(job_id, ID_SIZE, begun.job_id);
    free(text);
    fleet_plan_finish(&stored);
    managed_plan_finish(&plan);
    return done;
}

void trial_rig_finish(struct trial_rig *rig, const char *plan_id, const char *job_id,
                      struct fleet_plan_row *out)
{
    struct error error;
    struct job job;

    job_pool_wake(rig->jobs);
    must(job_pool_show(rig->jobs, job_id, &job, &error), "job", &error);
    while (!job_is_over(&job))
        must(job_pool_wait(rig->jobs, job_id, &job, WAIT_MS, NULL, NULL, &job, &error), "job",
             &error);
    must(fleet_plan_find(rig->store, plan_id, out, &error), "plan", &error);
}

void trial_rig_do(struct trial_rig *rig, enum provider_verb verb)
{
    char plan_id[ID_SIZE], job_id[ID_SIZE];
    struct fleet_plan_row plan;
    struct error error;

    must(trial_rig_begin(rig, verb, plan_id, job_id, &error), provider_verb_name(verb), &error);
    trial_rig_finish(rig, plan_id, job_id, &plan);
    if (strcmp(plan.state, "done") != 0) {
        fprintf(stderr, "%s %s: %s: %s\n", rig->site.trial->target.provider,
                provider_verb_name(verb), plan.state, plan.reason);
        abort();
    }
    fleet_plan_finish(&plan);
}

void trial_rig_state(struct trial_rig *rig, char out[16])
{
    struct fleet_managed_row row;
    struct error error;
    bool found;

    must(fleet_managed_find(rig->store, TRIAL_DEPLOYMENT, &row, &found, &error), "managed", &error);
    text_copy(out, 16, found ? row.state : "gone");
    if (found)
        fleet_managed_finish(&row);
}

void trial_rig_reset(struct trial_rig *rig)
{
    char state[16];

    trial_site_reset(&rig->site);
    trial_rig_state(rig, state);
    if (strcmp(state, "gone") != 0)
        trial_rig_do(rig, VERB_DESTROY);
}
