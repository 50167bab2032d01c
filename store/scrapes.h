/* Scraped metrics: targets, series and samples, in a file of their own. */
#pragma once

#include "store/store.h"

struct scrape_target {
    int64_t deployment_id, interval_ms, last_ms; /* interval 0: not watched */
    char last_error[256];
};
bool scrape_target_set(struct store *store, int64_t deployment_id, int64_t interval_ms,
                       struct change *change, struct error *error);
/* Of deployments that are not retired, interval 0 included. */
bool scrape_target_list(struct store *store, struct scrape_target **out, size_t *count,
                        struct error *error); /* free */

struct scrape_value {
    const char *name, *labels, *type; /* borrowed */
    double value;
};
/* One scrape, one row; new series are told once. Names and labels longer than struct scrape_series
 * can show are left out. `scrape_error` NULL when it went well; else only the target's last_error
 * is noted. */
bool scrape_add(struct store *store, int64_t deployment_id, int64_t at_ms,
                const struct scrape_value *values, size_t count, const char *scrape_error,
                struct error *error);

struct scrape_point {
    int64_t at_ms;
    double value;
};
struct scrape_series {
    char name[128], labels[512], type[16];
    struct scrape_point *points; /* ascending */
    size_t count;
};
/* Series whose name is `name`, within [from_ms, to_ms]; where there are more than max_points
 * scrapes, every n-th of them, the newest always. Series without a point are left out. Free with
 * scrape_series_free. */
bool scrape_history(struct store *store, int64_t deployment_id, const char *name, int64_t from_ms,
                    int64_t to_ms, size_t max_points, struct scrape_series **out, size_t *count,
                    struct error *error);
void scrape_series_free(struct scrape_series *series, size_t count);
/* Names of the series there are, ascending. free(*out). */
bool scrape_names(struct store *store, int64_t deployment_id, char (**out)[128], size_t *count,
                  struct error *error);
