/* SPDX-License-Identifier: Apache-2.0 */
/* cloud_bodies RECIPE...: prints the service of each recipe for Cloud Run as a line of JSON, for
 * tests/clouds/google_types.py. Those that cannot work are skipped. */
#include <stdio.h>
#include <string.h>

#include "base/json/json.h"
#include "fleet/providers/provider.h"
#include "fleet/recipes/recipe.h"

static bool print_service(const struct recipe *recipe, struct error *error)
{
    static const struct fleet_target target = { .project = "p",
                                                .bucket = "weights",
                                                .service_account = "a@p.iam.gserviceaccount.com",
                                                .network = "n",
                                                .subnetwork = "s" };
    const struct desired desired = {
        .target = &target,
        .recipe = recipe,
        .deployment = "gemma",
        .instance = "inst-1",
        .place = json_string_value(json_array_get(recipe_member(recipe, "places"), 0)),
        .kind = "on_demand",
        .ends_ms = INT64_C(1764003600000),
        .end_destroys = true,
        .request_seed = "plan-1",
    };
    struct step *steps = NULL;
    size_t count = 0;
    bool made =
        provider_find("cloud_run")->steps(VERB_CREATE, &desired, NULL, &steps, &count, error);

    for (size_t i = 0; made && i < count; i++)
        if (strcmp(steps[i].name, "service") == 0)
            json_dumpf(steps[i].body, stdout, JSON_COMPACT);
    putchar('\n');
    step_list_free(steps, count);
    return made;
}

int main(int count, char **paths)
{
    for (int i = 1; i < count; i++) {
        json_auto_t *document = json_load_file(paths[i], 0, NULL);
        struct recipe recipe = { 0 };
        struct error error = { 0 };
        bool good =
            recipe_read(document, &recipe, &error)
            && (strcmp(recipe.status, "cannot_work") == 0 || print_service(&recipe, &error));

        recipe_finish(&recipe);
        if (!good) {
            fprintf(stderr, "%s: %s\n", paths[i], error.message);
            return 1;
        }
    }
    return 0;
}
