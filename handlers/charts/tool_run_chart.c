/* SPDX-License-Identifier: Apache-2.0 */
/* run_chart: draws one chart as a picture. Its answer has no structure, because some hosts drop the
 * picture from an answer that has a structure. */

#include <string.h>

#include "base/core/base64.h"
#include "handlers/answers/deployment_argument.h"
#include "handlers/charts/chart_request.h"
#include "handlers/charts/pictures.h"

static json_t *image_block(const struct text *png)
{
    TEXT_AUTO data = { 0 };

    base64_add(&data, png->data, png->length);
    return json_pack("{s:s, s:s, s:s}", "type", "image", "data", text_string(&data), "mimeType",
                     "image/png");
}

static bool is_plot(const struct call *call, const char *plot)
{
    return strcmp(call_text(call, "plot"), plot) == 0;
}

/* Adds what the chart is about: one id, two ids joined by "and", or the deployment's name. */
static CHECKED bool add_subject(const struct call *call, struct text *out, struct error *error)
{
    const char *candidate = call_text(call, "candidate");
    struct deployment deployment;

    if (is_plot(call, "history")) {
        if (!deployment_argument(call, &deployment, error))
            return false;
        text_add(out, deployment.name);
        return true;
    }
    text_add(out, call_text(call, "run"));
    if (candidate != NULL && (is_plot(call, "forest") || is_plot(call, "cost")))
        text_addf(out, " and %s", candidate);
    return true;
}

static void name_page(const struct call *call, const char *subject, struct answer *answer)
{
    const char *run = call_text(call, "run"), *candidate = call_text(call, "candidate");

    if (is_plot(call, "history"))
        answer_shows(answer, "/history?deployment=%s", subject);
    else if (is_plot(call, "forest") && candidate != NULL)
        answer_shows(answer, "/compare?a=%s&b=%s", run, candidate);
    else
        answer_shows(answer, "/%s/%s", strncmp(run, "swp_", 4) == 0 ? "sweeps" : "runs", run);
}

static CHECKED bool answer_chart(struct call *call, const struct chart *chart,
                                 struct answer *answer, struct error *error)
{
    enum theme theme = call_boolean(call, "dark", false) ? THEME_DARK : THEME_LIGHT;
    TEXT_AUTO subject = { 0 };
    TEXT_AUTO png = { 0 };

    if (!add_subject(call, &subject, error)
        || !pictures_draw(call->services->pictures, &chart->drawing, theme, &png, error))
        return false;
    text_addf(&answer->text, "The %s chart of %s, drawn from %zu rows of figures; %s.",
              call_text(call, "plot"), text_string(&subject), chart_table_rows(&chart->table),
              is_plot(call, "forest")    ? "run_compare gives them"
              : is_plot(call, "history") ? "metrics_history gives them"
                                         : "run_report gives what was measured");
    name_page(call, text_string(&subject), answer);
    answer->content = json_pack("[o, {s:s, s:s}]", image_block(&png), "type", "text", "text",
                                text_string(&answer->text));
    return true;
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    CHART_AUTO chart;

    return chart_request_draw(call, &chart, error) && answer_chart(call, &chart, answer, error);
}

const struct tool tool_run_chart = {
    .name = "run_chart",
    .title = "Draw a run's figures",
    .help = "A picture (PNG) of a run, a comparison or a deployment's history, for people; "
            "run_report gives a run's figures.",
    .more = "Failed, inferred and unmeasured cells are marked; the ranges of the axes and colours "
            "come only from measured cells.",
    .sets = SET_MEASURE,
    .params = chart_request_params,
    .app = CHART_APP_URI,
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .read_only = true,
    .idempotent = true,
    .run = run,
};
