/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/recipes/recipe_lint.h"

#include <string.h>

/* Cloud Run's limit on "initial_s" and "period_s" of startup probes */
#define STARTUP_LONGEST_S 240

/* ---- Used by several rules ---- */

static bool has_hardware(const struct recipe_lint_case *candidate, const char *name)
{
    return strcmp(candidate->recipe->hardware, name) == 0;
}

static double number(const struct recipe_lint_case *candidate, const char *path, double fallback)
{
    return recipe_number(candidate->recipe, path, fallback);
}

/* A missing member does not count as below the limit. */
static bool is_below(const struct recipe_lint_case *candidate, const char *path, double least)
{
    return number(candidate, path, least) < least;
}

static bool host_is_too_small(const struct recipe_lint_case *candidate, const char *hardware,
                              double cpu, double memory_gib)
{
    return has_hardware(candidate, hardware)
           && (number(candidate, "host.cpu", 0) < cpu
               || number(candidate, "host.memory_gib", 0) < memory_gib);
}

static bool is_in(const char *const *list, const char *text)
{
    for (size_t i = 0; list[i] != NULL; i++)
        if (strcmp(list[i], text) == 0)
            return true;
    return false;
}

static bool argument_is_given(const struct recipe_lint_case *candidate, const char *name)
{
    const json_t *value = json_object_get(recipe_member(candidate->recipe, "arguments"), name);

    return value != NULL && !json_is_false(value);
}

/* ---- Cloud Run: limits from its documentation on GPUs and probes, 2026 ---- */

static bool has_another_accelerator(const struct recipe_lint_case *candidate)
{
    return candidate->recipe->hardware[0] != '\0' && !has_hardware(candidate, "nvidia-l4")
           && !has_hardware(candidate, "nvidia-rtx-pro-6000");
}

static bool has_several_gpus(const struct recipe_lint_case *candidate)
{
    return candidate->recipe->chips > 1;
}

static bool is_too_small_for_l4(const struct recipe_lint_case *candidate)
{
    return host_is_too_small(candidate, "nvidia-l4", 4, 16);
}

static bool is_too_small_for_rtx6000(const struct recipe_lint_case *candidate)
{
    return host_is_too_small(candidate, "nvidia-rtx-pro-6000", 20, 80);
}

static bool place_lacks_l4(const struct recipe_lint_case *candidate)
{
    static const char *const regions[] = {
        "asia-southeast1", "asia-south1", "europe-west1", "europe-west4", "us-central1",
        "us-east4",        NULL
    };

    return has_hardware(candidate, "nvidia-l4") && candidate->place[0] != '\0'
           && !is_in(regions, candidate->place);
}

static bool place_lacks_rtx6000(const struct recipe_lint_case *candidate)
{
    static const char *const regions[] = { "asia-southeast1", "asia-south2", "europe-west4",
                                           "us-central1", NULL };

    return has_hardware(candidate, "nvidia-rtx-pro-6000") && candidate->place[0] != '\0'
           && !is_in(regions, candidate->place);
}

static bool probes_too_slowly(const struct recipe_lint_case *candidate)
{
    return number(candidate, "probes.startup.initial_s", 0) > STARTUP_LONGEST_S
           || number(candidate, "probes.startup.period_s", 10) > STARTUP_LONGEST_S;
}

static bool probe_overlaps(const struct recipe_lint_case *candidate)
{
    static const char *const probes[][2] = {
        { "probes.startup.timeout_s", "probes.startup.period_s" },
        { "probes.liveness.timeout_s", "probes.liveness.period_s" },
        { "probes.readiness.timeout_s", "probes.readiness.period_s" },
    };

    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++)
        if (number(candidate, probes[i][0], 1) > number(candidate, probes[i][1], 10))
            return true;
    return false;
}

static bool timeout_is_too_long(const struct recipe_lint_case *candidate)
{
    return number(candidate, "cloud_run.timeout_s", 0) > 3600;
}

static bool pays_for_two_zones(const struct recipe_lint_case *candidate)
{
    return json_is_true(recipe_member(candidate->recipe, "cloud_run.zonal_redundancy"));
}

static bool lacks_concurrency(const struct recipe_lint_case *candidate)
{
    return recipe_member(candidate->recipe, "scale.concurrency") == NULL;
}

static bool queues_in_the_engine(const struct recipe_lint_case *candidate)
{
    double together = number(candidate, "arguments.--max-num-seqs", 0);

    return together > 0 && number(candidate, "scale.concurrency", 0) > 2 * together;
}

static bool never_fills_a_batch(const struct recipe_lint_case *candidate)
{
    return number(candidate, "scale.concurrency", 1e9)
           < number(candidate, "arguments.--max-num-seqs", 0);
}

static bool may_need_a_newer_driver(const struct recipe_lint_case *candidate)
{
    return has_hardware(candidate, "nvidia-l4")
           && (strstr(candidate->recipe->image, ":nightly") != NULL
               || strstr(candidate->recipe->image, ":latest") != NULL);
}

static bool mounts_as_another_user(const struct recipe_lint_case *candidate)
{
    return strcmp(recipe_text(candidate->recipe, "weights.from", ""), "bucket") == 0
           && strstr(candidate->recipe->image, "vllm/vllm-openai") != NULL
           && !recipe_lists(candidate->recipe, "cloud_run.mount_options", "uid=1001");
}

static bool copies_to_memory(const struct recipe_lint_case *candidate)
{
    return json_is_true(recipe_member(candidate->recipe, "weights.copied_to_memory"));
}

static bool is_always_on(const struct recipe_lint_case *candidate)
{
    return number(candidate, "scale.min", 0) > 0;
}

static bool downloads_at_every_start(const struct recipe_lint_case *candidate)
{
    return strcmp(recipe_text(candidate->recipe, "weights.from", ""), "hub") == 0
           && !is_always_on(candidate);
}

/* ---- TPUs ---- */

static bool is_not_a_v6e_size(const struct recipe_lint_case *candidate)
{
    int64_t chips = candidate->recipe->chips;

    return has_hardware(candidate, "google-tpu-v6e") && chips != 1 && chips != 4 && chips != 8;
}

static bool is_v6e(const struct recipe_lint_case *candidate)
{
    return has_hardware(candidate, "google-tpu-v6e");
}

static bool is_v5e(const struct recipe_lint_case *candidate)
{
    return has_hardware(candidate, "google-tpu-v5e");
}

static bool is_tpu7x(const struct recipe_lint_case *candidate)
{
    return has_hardware(candidate, "google-tpu7x");
}

static bool is_flex_start(const struct recipe_lint_case *candidate)
{
    return strcmp(candidate->kind, "flex_start") == 0;
}

static bool is_spot(const struct recipe_lint_case *candidate)
{
    return strcmp(candidate->kind, "spot") == 0;
}

static bool has_a_small_disk_for_tpu(const struct recipe_lint_case *candidate)
{
    return strncmp(candidate->recipe->hardware, "google-tpu", strlen("google-tpu")) == 0
           && is_below(candidate, "disk_gb", 200);
}

/* ---- All platforms ---- */

/* Always false for the provider "local" (this machine): there, the plan finds the digest itself. */
static bool image_has_no_digest(const struct recipe_lint_case *candidate)
{
    return candidate->recipe->image[0] != '\0' && strcmp(candidate->recipe->provider, "local") != 0
           && strstr(candidate->recipe->image, "@sha256:") == NULL;
}

static bool trusts_remote_code(const struct recipe_lint_case *candidate)
{
    return argument_is_given(candidate, "--trust-remote-code")
           || argument_is_given(candidate, "--trust_remote_code");
}

static bool is_in_development_mode(const struct recipe_lint_case *candidate)
{
    const char *mode = recipe_text(candidate->recipe, "environment.VLLM_SERVER_DEV_MODE", "0");

    return strcmp(mode, "0") != 0 && mode[0] != '\0';
}

static bool lacks_shared_memory(const struct recipe_lint_case *candidate)
{
    return number(candidate, "arguments.--tensor-parallel-size", 1) > 1
           && recipe_member(candidate->recipe, "host.shared_memory_gib") == NULL;
}

static bool lacks_a_context_limit(const struct recipe_lint_case *candidate)
{
    return strcmp(candidate->recipe->engine, "vllm") == 0
           && !argument_is_given(candidate, "--max-model-len");
}

static bool lacks_startup_probe(const struct recipe_lint_case *candidate)
{
    return recipe_member(candidate->recipe, "probes.startup") == NULL;
}

static const struct rule {
    const char *provider; /* NULL: all */
    bool refused;         /* the platform or opsbrain refuses the recipe; false: only a warning */
    bool (*breaks)(const struct recipe_lint_case *candidate);
    const char *sentence;
} rules[] = {
    { "cloud_run", true, has_another_accelerator,
      "Cloud Run has no such accelerator: it has the L4 and the RTX PRO 6000" },
    { "cloud_run", true, has_several_gpus,
      "Cloud Run gives an instance exactly one GPU: set \"chips\" to 1" },
    { "cloud_run", true, is_too_small_for_l4,
      "on Cloud Run, an L4 needs at least 4 CPUs and 16 GiB of memory: raise \"host\"" },
    { "cloud_run", true, is_too_small_for_rtx6000,
      "on Cloud Run, an RTX PRO 6000 needs at least 20 CPUs and 80 GiB of memory: raise \"host\"" },
    { "cloud_run", true, place_lacks_l4,
      "Cloud Run has the L4 only in asia-southeast1, asia-south1, europe-west1, europe-west4, "
      "us-central1 and us-east4" },
    { "cloud_run", true, place_lacks_rtx6000,
      "Cloud Run has the RTX PRO 6000 only in asia-southeast1, asia-south2, europe-west4 and "
      "us-central1" },
    { "cloud_run", true, probes_too_slowly,
      "on Cloud Run, \"initial_s\" and \"period_s\" of the startup probe must be at most 240 s" },
    { "cloud_run", true, probe_overlaps,
      "on Cloud Run, a probe's \"timeout_s\" must be at most its \"period_s\"" },
    { "cloud_run", true, timeout_is_too_long,
      "on Cloud Run, a request can take at most 3600 s: lower \"timeout_s\"" },
    { "cloud_run", false, pays_for_two_zones,
      "Zonal redundancy makes the GPU 56 % more expensive and has a separate quota." },
    { "cloud_run", false, lacks_concurrency,
      "Without \"scale.concurrency\", Cloud Run sends up to 80 requests at a time to one engine: "
      "set it to one or two times --max-num-seqs." },
    { "cloud_run", false, queues_in_the_engine,
      "\"scale.concurrency\" is more than twice --max-num-seqs: requests wait in the engine, and "
      "no other instance starts." },
    { "cloud_run", false, never_fills_a_batch,
      "\"scale.concurrency\" is below --max-num-seqs: the engine never batches as much as it "
      "could." },
    { "cloud_run", false, may_need_a_newer_driver,
      "Cloud Run's L4 has driver 535 (CUDA 12.2): an image for CUDA 12.9 or later needs the "
      "forward compatibility libraries; otherwise the engine fails with error 803." },
    { "cloud_run", false, mounts_as_another_user,
      "vLLM's image runs as uid 1001: mount the bucket with uid=1001 and gid=1001." },
    { "cloud_run", false, copies_to_memory,
      "Weights that are copied to memory count against \"host.memory_gib\"." },
    { "cloud_run", false, is_always_on,
      "With \"scale.min\" above 0, the service is billed all the time, even without requests." },
    { "cloud_run", false, downloads_at_every_start,
      "Each start from zero instances downloads the weights again: put them into the bucket." },
    { "cloud_tpu", true, is_tpu7x,
      "TPU7x is available only through Compute Engine or GKE, not as a queued resource" },
    { "cloud_tpu", true, is_not_a_v6e_size, "a v6e machine has 1, 4 or 8 chips" },
    { "cloud_tpu", false, is_v6e,
      "Google maintains the Cloud TPU API but adds no features: new work on v6e should use "
      "Compute Engine, which has a separate quota." },
    { "compute_engine", true, is_v5e,
      "Compute Engine has no machines with v5e: use a Cloud TPU queued resource" },
    { "compute_engine", true, is_not_a_v6e_size, "a v6e machine has 1, 4 or 8 chips" },
    { "compute_engine", true, has_a_small_disk_for_tpu,
      "a machine with TPUs needs a disk of at least 200 GB: raise \"disk_gb\"" },
    { NULL, false, is_flex_start,
      "With flex-start, a request for a machine is accepted even if there is no quota or capacity; "
      "it then stays pending." },
    { NULL, false, is_spot,
      "A request for a spot machine fails at once if there is no capacity, and the machine can be "
      "taken away at any time." },
    { NULL, false, image_has_no_digest,
      "The image is named by a tag, so a later start can run a different image: name it by its "
      "digest (@sha256:...)." },
    { NULL, true, is_in_development_mode,
      "VLLM_SERVER_DEV_MODE lets anyone who can reach the server reconfigure it: remove this "
      "variable from \"environment\"" },
    { NULL, false, trusts_remote_code,
      "--trust-remote-code runs code that comes with the checkpoint." },
    { NULL, false, lacks_shared_memory,
      "The model is split over several chips, which exchange data through shared memory: set "
      "\"host.shared_memory_gib\"." },
    { NULL, false, lacks_a_context_limit,
      "Without --max-model-len, the engine reserves memory for the model's longest context." },
    { NULL, false, lacks_startup_probe,
      "Without a startup probe, the platform sends requests before the model is loaded, or stops "
      "the server while it loads the model." },
};

bool recipe_lint(const struct recipe_lint_case *candidate, json_t *warnings, struct error *error)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const struct rule *rule = &rules[i];

        if ((rule->provider != NULL && strcmp(rule->provider, candidate->recipe->provider) != 0)
            || !rule->breaks(candidate))
            continue;
        if (rule->refused)
            return error_set(error, ERROR_INVALID, "the recipe %s: %s", candidate->recipe->name,
                             rule->sentence);
        json_array_append_new(warnings, json_string(rule->sentence));
    }
    return true;
}
