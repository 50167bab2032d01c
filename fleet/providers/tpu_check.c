/* SPDX-License-Identifier: Apache-2.0 */
/* Refuses a queued resource that the platform would refuse, and warns about what is unwise. */
#include <stdio.h>
#include <string.h>

#include "fleet/providers/tpu.h"
#include "fleet/recipes/recipe.h"

#define TITLE "Cloud TPU"
#define NAME_SIZE 64
#define FLEX_START_DAYS 7
#define STANDARD_DISK_GB 100
#define LONGEST_WAIT_S (30 * 86400)

/* The TPU generations that can be queued. A recipe runs on one machine, so it cannot use more chips
 * than one machine has. */
static const struct generation {
    const char *hardware;
    /* how its accelerator types begin; the number after the prefix counts cores, so "v5p-8" has 8
     * cores on 4 chips */
    const char *prefix;
    int64_t cores;       /* per chip */
    const char *runtime; /* the runtime version that it needs */
    const char *chips;   /* the numbers of chips that one machine can have, separated by spaces */
} generations[] = {
    { "google-tpu-v5e", "v5litepod-", 1, "v2-alpha-tpuv5-lite", " 1 4 8 " },
    { "google-tpu-v5p", "v5p-", 2, "v2-alpha-tpuv5", " 4 " },
    { "google-tpu-v6e", "v6e-", 1, "v2-alpha-tpuv6e", " 1 4 8 " },
};
#define GENERATIONS (sizeof generations / sizeof generations[0])

static const struct generation *find(const char *hardware)
{
    for (size_t i = 0; i < GENERATIONS; i++)
        if (strcmp(generations[i].hardware, hardware) == 0)
            return &generations[i];
    return NULL;
}

/* ---- The machine ---- */

static CHECKED bool check_type(const struct recipe *recipe, const struct generation *generation,
                               struct error *error)
{
    const char *type = recipe_text(recipe, "cloud_tpu.accelerator_type", "");
    const char *runtime = recipe_text(recipe, "cloud_tpu.runtime_version", "");
    size_t prefix = strlen(generation->prefix);
    int64_t cores;

    if (strncmp(type, generation->prefix, prefix) != 0
        || !text_to_integer(type + prefix, 1, 65536, &cores))
        return error_set(error, ERROR_INVALID,
                         "the recipe's \"cloud_tpu.accelerator_type\" is \"%.40s\": for %s it "
                         "must be like %s8",
                         type, generation->hardware, generation->prefix);
    if (cores != recipe->chips * generation->cores)
        return error_set(error, ERROR_INVALID,
                         "%s has %lld chips, but the recipe's \"chips\" is %lld", type,
                         (long long)(cores / generation->cores), (long long)recipe->chips);
    return strcmp(runtime, generation->runtime) == 0
           || error_set(error, ERROR_INVALID,
                        "the recipe's \"cloud_tpu.runtime_version\" is \"%.60s\": %s needs %s",
                        runtime, type, generation->runtime);
}

static CHECKED bool check_chips(const struct recipe *recipe, const struct generation *generation,
                                struct error *error)
{
    int64_t parts = recipe_integer(recipe, "arguments.--tensor-parallel-size", 1);
    char chips[32];

    snprintf(chips, sizeof chips, " %lld ", (long long)recipe->chips);
    if (strstr(generation->chips, chips) == NULL)
        return error_set(error, ERROR_INVALID,
                         "a %s machine can have one of these numbers of chips:%s(the recipe's "
                         "\"chips\" is %lld)",
                         generation->hardware, generation->chips, (long long)recipe->chips);
    return parts <= recipe->chips
           || error_set(error, ERROR_INVALID,
                        "the model is split over %lld chips (--tensor-parallel-size), but the "
                        "machine has %lld",
                        (long long)parts, (long long)recipe->chips);
}

static CHECKED bool check_machine(const struct recipe *recipe, struct error *error)
{
    const struct generation *generation = find(recipe->hardware);

    if (generation == NULL)
        return error_set(error, ERROR_INVALID,
                         TITLE " can queue v5e, v5p and v6e, but the recipe's hardware is \"%s\"",
                         recipe->hardware);
    return check_type(recipe, generation, error) && check_chips(recipe, generation, error);
}

/* ---- How the TPU is bought ---- */

static CHECKED bool check_flex_start(const struct desired *desired, struct error *error)
{
    int64_t life_s = (desired->ends_ms - desired->made_ms) / 1000;

    if (desired->ends_ms == 0)
        return error_set(error, ERROR_INVALID,
                         "flex-start lasts for a fixed time, %d days at most: give \"life_s\"",
                         FLEX_START_DAYS);
    if (life_s > FLEX_START_DAYS * 86400)
        return error_set(error, ERROR_INVALID,
                         "flex-start lasts %d days at most (%d s), but this would last %lld s: "
                         "shorten \"life_s\"",
                         FLEX_START_DAYS, FLEX_START_DAYS * 86400, (long long)life_s);
    return desired->end_destroys
           || error_set(error, ERROR_INVALID,
                        "\"at_end\" is stop, but flex-start deletes the machine at its end: choose "
                        "destroy");
}

static CHECKED bool check_wait(const struct recipe *recipe, struct error *error)
{
    int64_t wait_s = recipe_integer(recipe, "cloud_tpu.wait_s", 1);

    return (wait_s > 0 && wait_s <= LONGEST_WAIT_S)
           || error_set(
               error, ERROR_INVALID,
               "the recipe's \"cloud_tpu.wait_s\" is %lld: the wait for capacity must be 1 to %d s",
               (long long)wait_s, LONGEST_WAIT_S);
}

bool tpu_check(const struct desired *desired, struct error *error)
{
    const struct recipe *recipe = desired->recipe;

    return provider_check_name(desired->deployment, TITLE, NAME_SIZE, error)
           && check_machine(recipe, error) && google_machine_check(desired, TITLE, error)
           && check_wait(recipe, error)
           && (!tpu_is_flex_start(desired) || check_flex_start(desired, error));
}

/* ---- Warnings ---- */

void tpu_lint(const struct desired *desired, json_t *warnings)
{
    const struct recipe *recipe = desired->recipe;
    bool is_flex_start = tpu_is_flex_start(desired);
    const struct google_warning rows[] = {
        { is_flex_start, "Flex-start is only in the v2alpha1 API, which Google might change." },
        { is_flex_start,
          "Flex-start counts the life from when there is capacity: if opsbrain is gone, "
          "the machine ends later than planned, by the length of the wait." },
        { is_flex_start || strcmp(desired->kind, "spot") == 0,
          "Flex-start and spot need preemptible quota of the TPU API in the zone: without quota or "
          "capacity, flex-start waits and spot fails." },
        { strcmp(desired->kind, "reserved") == 0 && desired->target->reservation[0] == '\0',
          "The target names no reservation, so one of the project's reservations is used." },
        { !recipe_lists(recipe, "places", desired->place),
          "The recipe does not name this zone, which might not have the hardware." },
        { !is_flex_start && recipe_integer(recipe, "disk_gb", 0) > STANDARD_DISK_GB,
          "The disk is 100 GB, whatever the recipe says: the v2 API has no member for its size." },
    };

    google_machine_lint(warnings);
    google_warn(rows, sizeof rows / sizeof rows[0], warnings);
}
