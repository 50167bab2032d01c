/* SPDX-License-Identifier: Apache-2.0 */
/* Stores scraped metrics. The targets, which say which deployments are scraped, are in the main
 * database; series and samples are in a separate file, scrapes.db. In PostgreSQL, all of them are
 * in one database, but series and samples use separate connections. */
#pragma once

#include "store/ledger/change.h"
#include "store/series/scrape_point.h"

#define SCRAPE_USUAL_MS 15000 /* the default interval */
struct scrape_target {
    int64_t deployment_id, interval_ms; /* interval_ms 0: the deployment is not scraped */
    int64_t last_ms;                    /* when it was last scraped; 0: never */
    char last_error[256];               /* why that scrape failed; "": it did not fail */
};
/* Sets how often a deployment is scraped; interval_ms 0: never. NOT_FOUND: there is no such
 * deployment. */
CHECKED bool scrape_target_set(struct store *store, int64_t deployment_id, int64_t interval_ms,
                               struct change *change, struct error *error);
/* Lists the targets of all deployments that are not retired, including those with interval_ms 0.
 * free(*out). */
CHECKED bool scrape_target_list(struct store *store, struct scrape_target **out, size_t *count,
                                struct error *error);

/* Finds the target of one deployment; *out is all zero if the deployment has none or is retired. */
CHECKED bool scrape_target_find(struct store *store, int64_t deployment_id,
                                struct scrape_target *out, struct error *error);

/* The maximum number of series that are stored for a deployment. Only the gauges named
 * SCRAPE_LEFT_OUT can exceed it. */
#define SCRAPE_SERIES_LIMIT 5000
#define SCRAPE_NAME_SIZE 128
#define SCRAPE_LABELS_SIZE 512
struct scrape_value {
    const char *name, *labels, *type; /* borrowed */
    double value;
};
/* How many series of a scrape are not stored, by the limit that they exceed. */
struct scrape_left_out {
    size_t by_page;       /* beyond the limit on one metrics page; counted by the caller */
    size_t by_deployment; /* new series of a deployment that already has SCRAPE_SERIES_LIMIT */
    size_t by_length;     /* name or labels too long for SCRAPE_NAME_SIZE or SCRAPE_LABELS_SIZE */
    bool is_first;        /* this deployment exceeds one of the limits for the first time */
};
/* Once a deployment has exceeded a limit, each of its scrapes also stores a gauge of this name for
 * that limit. */
#define SCRAPE_LEFT_OUT "series_left_out"
/* Stores a scrape as one row, and its new series up to the limit. `left_out` (can be NULL) says how
 * many series the caller omitted; the numbers of series omitted here are added to it. If the clock
 * was set back, at_ms can be earlier than the times of other scrapes: the scrape is then rolled up
 * among them. */
CHECKED bool scrape_add(struct store *store, int64_t deployment_id, int64_t at_ms,
                        const struct scrape_value *values, size_t count,
                        struct scrape_left_out *left_out, struct error *error);
/* Records how a scrape went; the record is written within a second. `problem` NULL: it succeeded
 * (scrape_add records this itself). */
CHECKED bool scrape_note(struct store *store, int64_t deployment_id, int64_t at_ms,
                         const char *problem, struct error *error);

struct scrape_series {
    char name[SCRAPE_NAME_SIZE], labels[SCRAPE_LABELS_SIZE], type[16];
};
struct scrape_range {
    int64_t deployment_id;
    const char *name;
    int64_t from_ms, to_ms; /* to_ms is not included */
    int64_t step_ms;        /* 1: each scrape separately */
};
/* Receives the points of a range. */
struct scrape_visitor {
    /* Called once for each series; returns false to skip it. *tag (0 by default) is passed with
     * each of its points. */
    bool (*choose)(void *context, const struct scrape_series *series, size_t *tag);
    void (*receive)(void *context, size_t tag, const struct scrape_point *point);
    void *context;
};
/* Reports the series named range->name step by step, from the blocks of the level and from the
 * scrapes that are not rolled up yet. Steps without a value are skipped. The points of each series
 * are in ascending order of time, except where the clock was set back; there, a step can also occur
 * twice. from_ms and step_ms must be multiples of scrape_level_ms(level). Keeps only one block and
 * one point per series in memory at a time. */
CHECKED bool scrape_visit(struct store *store, const struct scrape_range *range,
                          enum scrape_level level, const struct scrape_visitor *visitor,
                          struct error *error);
/* Finds, for each limit, the largest number of series that a single scrape in the range omitted
 * because of that limit. range->name is not used. */
CHECKED bool scrape_left_out_read(struct store *store, const struct scrape_range *range,
                                  enum scrape_level level, struct scrape_left_out *out,
                                  struct error *error);
/* Chooses the coarsest level that is fine enough for step_ms. If that level does not go back to
 * from_ms, chooses the finest of the coarser levels that do or, if none does, the level that goes
 * back furthest. */
CHECKED bool scrape_level_for(struct store *store, int64_t deployment_id, int64_t from_ms,
                              int64_t step_ms, enum scrape_level *out, struct error *error);
/* Finds the type of the series with this name; "": the deployment has no such series. */
CHECKED bool scrape_type(struct store *store, int64_t deployment_id, const char *name,
                         char type[16], struct error *error);
/* Lists the names of the deployment's series, in ascending order. free(*out). */
CHECKED bool scrape_names(struct store *store, int64_t deployment_id, char (**out)[128],
                          size_t *count, struct error *error);

/* Rolls up the scrapes of complete hours or, if there are many scrapes, of complete ten-minute
 * periods, and packs them by series. Each period is one transaction, which also records where the
 * period ends. After an interruption, the next call continues from there. */
CHECKED bool scrape_compact(struct store *store, int64_t now_ms, struct error *error);
