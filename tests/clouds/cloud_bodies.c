/* SPDX-License-Identifier: Apache-2.0 */
/* cloud_bodies RECIPE...: for each recipe (a file) and each kind of purchase, prints the bodies of
 * the requests to Google's platforms that create a server and extend its life. Each is a line of
 * JSON such as {"type": "compute.Instance", "body": {...}}. google_types.py and google_clients.py
 * in this folder read them. Recipes with the status "cannot_work" are skipped. */
#include <stdio.h>
#include <string.h>

#include "fleet/providers/provider.h"
#include "fleet/recipes/recipe.h"

/* The steps whose bodies are printed, with the names of Google's message types. */
static const struct type {
    const char *provider, *step, *name;
} types[] = {
    { "cloud_run", "service", "run.Service" },
    { "compute_engine", "instance", "compute.Instance" },
    { "compute_engine", "firewall", "compute.Firewall" },
    { "compute_engine", "scheduling", "compute.Scheduling" },
    { "compute_engine", "label", "compute.InstancesSetLabelsRequest" },
    { "compute_engine", "key", "secretmanager.Secret" },
    { "cloud_tpu", "queued-resource", "tpu.QueuedResource" },
    { "cloud_tpu", "firewall", "compute.Firewall" },
    { "cloud_tpu", "label", "tpu.Node" },
    { "cloud_tpu", "key", "secretmanager.Secret" },
};

/* Prints a step whose type is known, except a flex-start of Cloud TPU (v2alpha1), which Google's
 * types lack: test_tpu_requests compares it with the API's description instead. */
static void print_step(const char *provider, const struct step *step)
{
    if (strstr(step->url, "/v2alpha1/") != NULL)
        return;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i].provider, provider) == 0 && strcmp(types[i].step, step->name) == 0) {
            json_auto_t *line = json_pack("{s:s, s:O}", "type", types[i].name, "body", step->body);

            json_dumpf(line, stdout, JSON_COMPACT);
            putchar('\n');
        }
}

static bool print_verb(const struct provider *provider, enum provider_verb verb,
                       const struct desired *desired, struct error *error)
{
    const struct observed now = { .exists = verb != VERB_CREATE,
                                  .ours = true,
                                  .state = "stopped",
                                  .replicas = 1,
                                  .ends_ms = INT64_C(1764003600000) };
    struct step *steps = NULL;
    size_t count = 0;
    bool made = provider->steps(verb, desired, &now, &steps, &count, error);

    for (size_t i = 0; made && i < count; i++)
        print_step(provider->name, &steps[i]);
    step_list_free(steps, count);
    return made;
}

static bool print_recipe(const struct recipe *recipe, struct error *error)
{
    static const struct fleet_target target = { .project = "p",
                                                .bucket = "weights",
                                                .service_account = "a@p.iam.gserviceaccount.com",
                                                .network = "n",
                                                .subnetwork = "s",
                                                .source_ranges = { "10.0.0.0/8" },
                                                .source_range_count = 1 };
    const struct provider *provider = provider_find(recipe->provider);
    const json_t *kinds = recipe_member(recipe, "kinds"), *kind;
    struct desired desired = {
        .target = &target,
        .recipe = recipe,
        .deployment = "gemma",
        .instance = "inst-1",
        .place = json_string_value(json_array_get(recipe_member(recipe, "places"), 0)),
        .made_ms = INT64_C(1764000000000),
        .ends_ms = INT64_C(1764003600000),
        .end_destroys = true,
        .request_seed = "plan-1",
    };
    size_t i;

    json_array_foreach(kinds, i, kind) {
        desired.kind = json_string_value(kind);
        if (!print_verb(provider, VERB_CREATE, &desired, error)
            || !print_verb(provider, VERB_EXTEND, &desired, error))
            return false;
    }
    return true;
}

int main(int count, char **paths)
{
    for (int i = 1; i < count; i++) {
        json_auto_t *document = json_load_file(paths[i], 0, NULL);
        struct recipe recipe = { 0 };
        struct error error = { 0 };
        bool good = recipe_read(document, &recipe, &error)
                    && (strcmp(recipe.status, "cannot_work") == 0 || print_recipe(&recipe, &error));

        recipe_finish(&recipe);
        if (!good) {
            fprintf(stderr, "%s: %s\n", paths[i], error.message);
            return 1;
        }
    }
    return 0;
}
