/* SPDX-License-Identifier: Apache-2.0 */
/* metrics_watch: sets how often a server's metrics are stored. */

#include <inttypes.h>

#include "base/net/credential.h"
#include "fleet/replicas.h"
#include "handlers/answers/deployment_argument.h"
#include "handlers/answers/deployment_endpoint.h"
#include "store/series/scrapes.h"

static const struct param params[] = {
    PARAM_DEPLOYMENT,
    { "interval_s", VALUE_INTEGER, .low = 0, .high = 86400, .initial = "15",
      .help = "Seconds between two scrapes; 0 stops storing." },
    { 0 },
};

static const struct field fields[] = {
    { "deployment", VALUE_TEXT, .help = "The deployment." },
    { "interval_s", VALUE_INTEGER, .help = "Seconds between scrapes from now on; 0: not watched." },
    { "problem", VALUE_TEXT, .optional = true, .foreign = true,
      .help = "Why it cannot be scraped now." },
    FIELD_NEXT_STEP,
    { 0 },
};

/* Returns false and sets `problem` if the server cannot be scraped now. run() watches it anyway. */
static CHECKED bool try_scraping(const struct call *call, const struct deployment *deployment,
                                 struct error *problem)
{
    ENDPOINT_AUTO endpoint = { 0 };

    return secret_access_endpoint(&call->services->access, deployment, &endpoint, problem)
           && endpoint_check_scrapable(&endpoint, problem) && replicas_try(&endpoint, problem);
}

static const char *next_step(int64_t interval_s, bool can_be_scraped)
{
    if (interval_s == 0)
        return "metrics_history shows what was stored";
    return can_be_scraped ? "metrics_history in a minute or later"
                          : "fix the problem; metrics_history then shows what is stored";
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    int64_t interval_s = call_integer(call, "interval_s", 15);
    struct error problem = { 0 };
    struct deployment deployment;
    TEXT_AUTO why = { 0 };

    if (!deployment_argument(call, &deployment, error))
        return false;
    if (interval_s > 0 && !try_scraping(call, &deployment, &problem))
        credential_add_masked(&why, problem.message);
    if (!scrape_target_set(call->services->store, deployment.id, interval_s * 1000, &call->change,
                           error))
        return false;
    scraper_wake(call->services->scraper);
    answer->structured =
        json_pack("{s:s, s:I, s:o}", "deployment", deployment.name, "interval_s",
                  (json_int_t)interval_s, "problem", answer_json_text(text_string(&why)));
    if (interval_s == 0)
        text_addf(&answer->text, "The metrics of %s are no longer stored.\n", deployment.name);
    else if (why.length > 0)
        text_addf(&answer->text,
                  "No metrics of %s can be stored now: %s\nScraping is retried every %" PRId64
                  " s.\n",
                  deployment.name, why.data, interval_s);
    else
        text_addf(&answer->text, "The metrics of %s are stored every %" PRId64 " s from now on.\n",
                  deployment.name, interval_s);
    answer_next(answer, next_step(interval_s, why.length == 0));
    return true;
}

const struct tool tool_metrics_watch = {
    .name = "metrics_watch",
    .title = "Store a server's metrics from now on",
    .help = "Stores a deployment's metrics regularly from now on, for metrics_history; "
            "interval_s 0 stops it.",
    .more = "It says at once whether this works now. At most 2,000 series per page and 5,000 per "
            "deployment are kept, rolled up as they age. For current figures, call "
            "metrics_show.",
    .sets = SET_FLEET,
    .params = params,
    .fields = fields,
    .role = ROLE_OPERATOR,
    .placement = PLACE_WAITING,
    .idempotent = true,
    .open_world = true,
    .destroys = STATED_NO,
    .spends_money = STATED_NO,
    .grows = true,
    .run = run,
};
