/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/metrics/metric_range.h"

int64_t metric_range_step_s(int64_t range_ms, int64_t points)
{
    static const int64_t steps_s[] = { 1,     2,     5,      10,     15,      30,     60,    120,
                                       300,   600,   900,    1800,   3600,    7200,   10800, 21600,
                                       43200, 86400, 172800, 604800, 1209600, 2592000 };
    size_t i = 0;

    while (i + 1 < sizeof steps_s / sizeof *steps_s && steps_s[i] * 1000 * points < range_ms)
        i++;
    return steps_s[i];
}

int64_t metric_range_round_up(int64_t value, int64_t to)
{
    return (value + to - 1) / to * to;
}

bool metric_range_choose_level(struct store *store, int64_t from_ms,
                               struct metric_history_request *request, struct error *error)
{
    if (!scrape_level_for(store, request->deployment_id, from_ms, request->step_ms, &request->level,
                          error))
        return false;
    request->step_ms = metric_range_round_up(request->step_ms, scrape_level_ms(request->level));
    return true;
}
