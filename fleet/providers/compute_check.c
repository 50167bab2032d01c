/* SPDX-License-Identifier: Apache-2.0 */
/* Refuses what Compute Engine would refuse, and warns about what is unwise there. */
#include <string.h>

#include "fleet/providers/compute.h"
#include "fleet/recipes/recipe.h"

#define NAME_SIZE 64
#define SHORTEST_WAIT_S 90
#define LONGEST_WAIT_S 7200
#define DAY_MS INT64_C(86400000)
#define LONGEST_MS (120 * DAY_MS)
#define LONGEST_FLEXIBLE_MS (7 * DAY_MS)

/* The machine types that a recipe can name. Each includes the accelerators given here (source:
 * Google's documentation of machine families, 2026). */
static const struct machine {
    const char *type, *hardware;
    int64_t chips;
} machines[] = {
    { "g2-standard-4", "nvidia-l4", 1 },         { "g2-standard-8", "nvidia-l4", 1 },
    { "g2-standard-12", "nvidia-l4", 1 },        { "g2-standard-16", "nvidia-l4", 1 },
    { "g2-standard-24", "nvidia-l4", 2 },        { "g2-standard-32", "nvidia-l4", 1 },
    { "g2-standard-48", "nvidia-l4", 4 },        { "g2-standard-96", "nvidia-l4", 8 },
    { "ct6e-standard-1t", "google-tpu-v6e", 1 }, { "ct6e-standard-4t", "google-tpu-v6e", 4 },
    { "ct6e-standard-8t", "google-tpu-v6e", 8 }, { "ct5p-hightpu-1t", "google-tpu-v5p", 1 },
    { "ct5p-hightpu-2t", "google-tpu-v5p", 2 },  { "ct5p-hightpu-4t", "google-tpu-v5p", 4 },
    { "tpu7x-standard-4t", "google-tpu7x", 4 },
};
#define MACHINES (sizeof machines / sizeof machines[0])

bool compute_has_accelerators(const char *machine_type)
{
    static const char *const families[] = { "g2-",  "g4-",   "a2-",   "a3-",   "a4-",
                                            "a4x-", "ct5p-", "ct6e-", "tpu7x-" };

    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        if (strncmp(machine_type, families[i], strlen(families[i])) == 0)
            return true;
    return false;
}

static CHECKED bool check_machine(const struct recipe *recipe, struct error *error)
{
    const char *type = recipe_text(recipe, "host.machine", "");
    const struct machine *machine = machines;

    while (machine < machines + MACHINES && strcmp(machine->type, type) != 0)
        machine++;
    if (machine == machines + MACHINES)
        return error_set(
            error, ERROR_INVALID,
            "the recipe's \"host.machine\" is \"%s\": on Compute Engine it must be a type "
            "such as g2-standard-4 (L4), ct6e-standard-1t (v6e), ct5p-hightpu-1t (v5p) "
            "or tpu7x-standard-4t; there is none with v5e",
            type);
    if (strcmp(machine->hardware, recipe->hardware) != 0 || machine->chips != recipe->chips)
        return error_set(error, ERROR_INVALID, "%s has %lld %s, but the recipe needs %lld %s", type,
                         (long long)machine->chips, machine->hardware, (long long)recipe->chips,
                         recipe->hardware);
    return true;
}

static bool is_plain(const char *text)
{
    return text[0] != '\0' && text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0';
}

static CHECKED bool check_members(const struct recipe *recipe, struct error *error)
{
    static const char *const names[] = { "compute_engine.image_project",
                                         "compute_engine.image_family",
                                         "compute_engine.disk_type" };
    int64_t wait_s = recipe_integer(recipe, "compute_engine.wait_s", SHORTEST_WAIT_S);

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *name = recipe_text(recipe, names[i], i < 2 ? "" : "pd-balanced");

        if (!is_plain(name))
            return error_set(error, ERROR_INVALID,
                             "the recipe's \"%s\" is \"%.60s\": it must be a name that consists of "
                             "a-z, 0-9 and '-'",
                             names[i], name);
    }
    if (wait_s < SHORTEST_WAIT_S || wait_s > LONGEST_WAIT_S)
        return error_set(
            error, ERROR_INVALID,
            "the recipe's \"compute_engine.wait_s\" is %lld: Compute Engine waits %d to "
            "%d s for capacity",
            (long long)wait_s, SHORTEST_WAIT_S, LONGEST_WAIT_S);
    return true;
}

static CHECKED bool refuse_life(int64_t life_ms, const char *what, int64_t longest_ms,
                                struct error *error)
{
    return error_set(
        error, ERROR_INVALID,
        "%s at most %lld days (%lld s), but this one would live %lld s: shorten \"life_s\"", what,
        (long long)(longest_ms / DAY_MS), (long long)(longest_ms / 1000),
        (long long)(life_ms / 1000));
}

bool compute_check_end(const struct desired *desired, const struct observed *now,
                       struct error *error)
{
    bool is_flexible = compute_is_flexible(desired, now);
    int64_t life_ms = desired->ends_ms - desired->made_ms;

    if (is_flexible && desired->ends_ms == 0)
        return error_set(error, ERROR_INVALID,
                         "a flex-start machine needs an end, at most 7 days away: give \"life_s\"");
    if (is_flexible && life_ms > LONGEST_FLEXIBLE_MS)
        return refuse_life(life_ms, "a flex-start machine lives", LONGEST_FLEXIBLE_MS, error);
    if (is_flexible && !desired->end_destroys)
        return error_set(error, ERROR_INVALID,
                         "\"at_end\" is stop, but a flex-start machine is deleted at its end: "
                         "choose destroy");
    return desired->ends_ms == 0 || desired->made_ms == 0 || life_ms <= LONGEST_MS
           || refuse_life(life_ms, "a Compute Engine machine lives", LONGEST_MS, error);
}

bool compute_check(const struct desired *desired, struct error *error)
{
    const struct recipe *recipe = desired->recipe;

    if (!provider_check_name(desired->deployment, "Compute Engine", NAME_SIZE, error))
        return false;
    return recipe == NULL
           || (google_machine_check(desired, "Compute Engine", error)
               && check_machine(recipe, error) && check_members(recipe, error));
}

void compute_lint(const struct desired *desired, json_t *warnings)
{
    const struct recipe *recipe = desired->recipe;
    const struct google_warning rows[] = {
        { strcmp(desired->kind, "reserved") == 0 && desired->target->reservation[0] == '\0',
          "The target names no reservation, so an open reservation that fits is used. If there is "
          "none, the machine is billed at the on-demand price." },
        { strcmp(desired->kind, "flex_start") == 0,
          "Flex-start counts the machine's life from when there is capacity. opsbrain ends the "
          "machine at the planned time; the platform itself would end it later, by as long as the "
          "machine waited for capacity." },
        { !desired->end_destroys,
          "A stopped machine's disk is billed until the machine is destroyed." },
        { !recipe_lists(recipe, "places", desired->place),
          "The recipe does not name this zone, which might not have the machine type." },
    };

    google_machine_lint(warnings);
    google_warn(rows, sizeof rows / sizeof rows[0], warnings);
}
