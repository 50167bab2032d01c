/* Figures over time, made from stored scrapes: gauges as they were, rates and means from the growth
 * of counters between two scrapes. */
#pragma once

#include "store/scrapes.h"

enum history_kind {
    HISTORY_GAUGE,
    HISTORY_RATE,  /* growth per second */
    HISTORY_RATIO, /* growth of one counter per growth of another */
};

struct history_figure {
    enum history_kind kind;
    const char *series, *per; /* names of stored series; `per` of a RATIO only */
    double scale;
    const char *unit;
};

extern const char *const history_names[]; /* ends with NULL */
/* NULL if there is none of the name. */
const struct history_figure *history_find(const char *name);

/* What is asked for: at about max_points times at most, within [from_ms, to_ms]. */
struct history_span {
    int64_t deployment_id, from_ms, to_ms;
    size_t max_points;
};

struct history {
    struct scrape_point *points; /* ascending, heap */
    size_t count;
};
/* An interval in which the server restarted (a counter fell), or in which a mean had nothing to be
 * made of, has no point. */
bool history_read(struct store *store, const struct history_figure *figure,
                  const struct history_span *span, struct history *out, struct error *error);
void history_finish(struct history *history);

struct history_summary {
    double latest, low, mean, high; /* NaN without points */
};
void history_summarize(const struct history *history, struct history_summary *out);
