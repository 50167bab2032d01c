/* SPDX-License-Identifier: Apache-2.0 */
/* The table of trials, one for each provider. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
#include "tests/clouds/fake_google.h"
#include "tests/clouds/fake_kubernetes.h"
#include "tests/clouds/trial.h"
#include "tests/clouds/trial_here.h"

/* Limits on cost that no trial reaches. */
#define RICH .deployment_usd = 100, .total_usd = 1000, .agent_usd = 100, .agent_life_usd = 100000

#define MACHINE_PLACE "{\"project\":\"p\",\"service_account\":\"server@p.iam.gserviceaccount.com\"}"

/* ---- Kubernetes ---- */

static void start_kubernetes(struct trial_site *site)
{
    struct fake_kubernetes *fake = calloc(1, sizeof *fake);

    fake_kubernetes_start(fake);
    site->fake = fake;
    site->server = fake->server;
    site->objects = fake->objects;
    snprintf(site->credential, sizeof site->credential,
             "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:%d'}}]\n"
             "users: [{name: robot, user: {token: canary-kubernetes}}]\n"
             "contexts: [{name: x, context: {cluster: c, user: robot, namespace: llm}}]\n"
             "current-context: x\n",
             fake_server_port(fake->server));
}

static void stop_kubernetes(struct trial_site *site)
{
    fake_kubernetes_stop(site->fake);
    free(site->fake);
}

static bool set_kubernetes(struct trial_site *site, const char *condition)
{
    struct fake_kubernetes *fake = site->fake;
    bool crashes = strcmp(condition, "server crashes") == 0;

    fake->has_pages = strcmp(condition, "pages") == 0;
    strcpy(fake->pod, crashes ? "crash" : "ready");
    return crashes || fake->has_pages;
}

/* ---- Google ---- */

static void start_google(struct trial_site *site)
{
    struct fake_google *fake = calloc(1, sizeof *fake);

    fake_google_start(fake);
    fake->now_ms = clock_utc_ms();
    fake->gpus = 8;
    site->fake = fake;
    site->server = fake->server;
    site->objects = fake->objects;
    snprintf(site->endpoints, sizeof site->endpoints, "%stoken=http://127.0.0.1:%d",
             fake->endpoints, fake_server_port(fake->server));
}

static void stop_google(struct trial_site *site)
{
    fake_google_stop(site->fake);
    free(site->fake);
}

static bool set_google(struct trial_site *site, const char *condition)
{
    static const char message[] = "Quota exceeded for total allowable count of GPUs";
    struct fake_google *fake = site->fake;
    bool breaks = strcmp(condition, "operation with error") == 0;
    bool fails = strcmp(condition, "server crashes") == 0;

    fake->has_pages = strcmp(condition, "pages") == 0;
    fake->sends_numbers = strcmp(condition, "int64 as numbers") == 0;
    strcpy(fake->operation_error, breaks ? message : "");
    strcpy(fake->condition_error, fails ? "the container did not start" : "");
    fake->server_fails = fails;
    return breaks || fails || fake->has_pages || fake->sends_numbers;
}

static const struct trial trials[] = {
    { .target = { .name = "lab",
                  .provider = "kubernetes",
                  .place = "{\"namespace\":\"llm\"}",
                  .regions = "[\"us-central1\"]",
                  .source_ranges = "[]",
                  .recipes = "[]",
                  .credential = "kubeconfig",
                  .credential_file = "lab.yaml",
                  .allows_no_price = 1,
                  RICH },
      .recipe = "gke-gemma-4-12b-qat-l4",
      .world = "kubernetes-world.json",
      .start = start_kubernetes,
      .stop = stop_kubernetes,
      .set = set_kubernetes },
    { .target = { .name = "lab",
                  .provider = "cloud_run",
                  .place = "{\"project\":\"p\",\"bucket\":\"weights\","
                           "\"service_account\":\"server@p.iam.gserviceaccount.com\"}",
                  .regions = "[\"us-central1\"]",
                  .source_ranges = "[]",
                  .recipes = "[]",
                  .credential = "workload_identity",
                  RICH },
      .recipe = "run-gemma-4-12b-qat-l4",
      .world = "cloud_run-world.json",
      .start = start_google,
      .stop = stop_google,
      .set = set_google,
      .renews_token = true },
    { .target = { .name = "lab",
                  .provider = "compute_engine",
                  .place = MACHINE_PLACE,
                  .regions = "[\"us-central1-a\"]",
                  .source_ranges = "[\"203.0.113.4/32\"]",
                  .recipes = "[]",
                  .credential = "workload_identity",
                  RICH },
      .recipe = "gce-gemma-4-12b-qat-l4",
      .world = "compute_engine-world.json",
      .start = start_google,
      .stop = stop_google,
      .set = set_google,
      .renews_token = true },
    { .target = { .name = "lab",
                  .provider = "cloud_tpu",
                  .place = MACHINE_PLACE,
                  .regions = "[\"us-east5-a\"]",
                  .source_ranges = "[\"203.0.113.4/32\"]",
                  .recipes = "[]",
                  .credential = "workload_identity",
                  .allows_no_guard = 1,
                  RICH },
      .recipe = "tpu-gemma-4-12b-v6e1",
      .world = "cloud_tpu-world.json",
      .start = start_google,
      .stop = stop_google,
      .set = set_google,
      .renews_token = true },
    { .target = { .name = "lab",
                  .provider = "local",
                  .place = "{}",
                  .regions = "[]",
                  .source_ranges = "[]",
                  .recipes = "[]",
                  .credential = "none",
                  .allows_no_price = 1,
                  RICH },
      .recipe = "here",
      .world = "local-world.json",
      .start = trial_here_start,
      .stop = trial_here_stop,
      .set = trial_here_set,
      .is_here = true },
    { .recipe = NULL },
};

const struct trial *trial_all(void)
{
    return trials;
}
