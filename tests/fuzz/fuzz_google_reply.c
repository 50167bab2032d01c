/* SPDX-License-Identifier: Apache-2.0 */
/* Reads any answer from Google's services as the reply to a request, and as an observed resource.
 * The first byte of the input chooses the platform; if it is at least 128, the internal address is
 * read. The second byte chooses the request and the verdict, the third the status. */
#include "fleet/providers/cloud_run.h"
#include "fleet/providers/compute.h"
#include "fleet/providers/tpu.h"
#include "tests/fuzz/fuzz_reply.h"

static void read_run(const json_t *body, bool is_inside, struct observed *out)
{
    (void)is_inside;
    cloud_run_read(body, out);
}

static void read_queued(const json_t *body, bool is_inside, struct observed *out)
{
    (void)is_inside;
    tpu_read_queued(body, out);
}

static void read_attributes(const json_t *body, bool is_inside, struct observed *out)
{
    (void)is_inside;
    text_copy(out->state, sizeof out->state, "starting");
    tpu_read_attributes(body, out);
}

static void (*const readers[])(const json_t *body, bool is_inside, struct observed *out) = {
    read_run, compute_read, read_queued, tpu_read_node, read_attributes,
};

static const struct platform {
    const char *provider, *place, *recipe;
} platforms[] = {
    { "cloud_run", "us-central1", "run-gemma-4-12b-qat-l4" },
    { "compute_engine", "us-central1-a", "gce-gemma-4-12b-qat-l4" },
    { "cloud_tpu", "us-east5-a", "tpu-gemma-4-12b-v6e1" },
};
#define PLATFORMS (sizeof platforms / sizeof *platforms)

static const struct reply_steps *steps_of(size_t platform)
{
    static struct fleet_target targets[PLATFORMS];
    static struct reply_steps made[PLATFORMS];
    struct fleet_target *target = &targets[platform];

    if (made[platform].provider != NULL)
        return &made[platform];
    *target = (struct fleet_target){ .name = "gcp",
                                     .project = "p",
                                     .bucket = "weights",
                                     .service_account = "server@p.iam.gserviceaccount.com",
                                     .source_ranges = { "203.0.113.4/32" },
                                     .source_range_count = 1,
                                     .place_count = 1 };
    text_copy(target->provider, sizeof target->provider, platforms[platform].provider);
    text_copy(target->places[0], FLEET_PLACE_SIZE, platforms[platform].place);
    reply_steps_make(&made[platform], target, platforms[platform].recipe);
    return &made[platform];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const long statuses[] = REPLY_STATUSES;
    json_auto_t *body = NULL;
    struct error error;

    if (size < 3)
        return 0;
    error_ignore(json_parse((const char *)data + 3, size - 3, &body, &error));
    reply_try_outcome(steps_of(data[0] % PLATFORMS), data[1],
                      statuses[data[2] % (sizeof statuses / sizeof *statuses)], body);
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        struct observed now = { 0 };

        readers[i](body, data[0] >= 128, &now);
        reply_check_observed(&now);
        observed_finish(&now);
    }
    return 0;
}
