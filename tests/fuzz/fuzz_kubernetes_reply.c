/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the body of an answer from a Kubernetes API server, which can be any bytes, twice: as the
 * reply to a step, and as an observed Deployment with pods and a log. The first byte of the input
 * is the argument `which` of reply_try_outcome, and the second chooses the status. Then follow the
 * body, the pods and the log, separated by NUL bytes. */
#include "fleet/providers/kubernetes.h"
#include "tests/fuzz/fuzz_reply.h"

static const struct reply_steps *steps(void)
{
    static const struct fleet_target target = {
        .name = "lab", .provider = "kubernetes", .namespace = "llm", .door = "node_port"
    };
    static struct reply_steps made;

    if (made.provider == NULL)
        reply_steps_make(&made, &target, "gke-gemma-4-12b-qat-l4");
    return &made;
}

/* Takes the next part of the input, up to a NUL byte; returns its length. */
static size_t take_part(const uint8_t **data, size_t *size, const char **out)
{
    size_t length = strnlen((const char *)*data, *size), used = length + (length < *size);

    *out = (const char *)*data;
    *data += used;
    *size -= used;
    return length;
}

static void read_objects(const json_t *deployment, const json_t *pods, const char *log)
{
    struct observed now = { 0 };

    kubernetes_read(deployment, pods, log, &now);
    reply_check_observed(&now);
    CHECK_TEXT(now.log_line);
    observed_finish(&now);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const long statuses[] = REPLY_STATUSES;
    json_auto_t *body = NULL, *pods = NULL;
    struct error error;
    const char *part;
    uint8_t which, status;
    char *log;
    size_t length;

    if (size < 2)
        return 0;
    which = data[0];
    status = data[1];
    data += 2;
    size -= 2;
    length = take_part(&data, &size, &part);
    error_ignore(json_parse(part, length, &body, &error));
    length = take_part(&data, &size, &part);
    error_ignore(json_parse(part, length, &pods, &error));
    length = take_part(&data, &size, &part);
    log = strndup(part, length);
    reply_try_outcome(steps(), which, statuses[status % (sizeof statuses / sizeof *statuses)],
                      body);
    read_objects(body, pods, log);
    free(log);
    return 0;
}
