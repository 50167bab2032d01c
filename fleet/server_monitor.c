/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/server_monitor.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/core/clock.h"
#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/core/thread.h"
#include "base/json/json.h"
#include "fleet/census.h"
#include "fleet/metrics_map.h"
#include "fleet/monitor_report.h"

#define INTERVAL_NS                                                                                \
    500000000 /* half a second, so that each second has a scrape even if one is late */
#define TIMEOUT_MS 5000
#define PAUSE_NS 100000000 /* between checks for an idle server */
#define IDLE_LIMIT_S 10.0  /* how long to wait for a busy server to become idle */
/* The server counts as idle if no counter changed for this long, whatever its gauges say. */
#define STILL_S 3.0
#define COUNTING_LIMIT_S 2.0 /* how long to wait for the server to count what it has answered */
#define BROKEN_LIMIT_S 2.0   /* how long to wait for unavailable metrics if no request failed */
#define RETURN_LIMIT_S 60.0  /* how long to wait for unavailable metrics if requests failed too */
#define CONFIRM_SCRAPES 8    /* to detect other instances at the same address */
#define CONFIRM_PAUSE_NS 25000000
#define CENSUS_PAUSE_NS 5000000

struct server_monitor {
    struct endpoint endpoint;
    struct monitor_watch watch;
    struct monitor_observations observations;
    struct census census; /* taken before the first request */
    pthread_t thread;
    bool has_thread;
    atomic_bool stopping;
    pthread_mutex_t lock;
    pthread_cond_t stopped;
};

static double seconds_since(int64_t from_ns)
{
    return (double)(clock_monotonic_ns() - from_ns) / 1e9;
}

static void pause_ns(long ns)
{
    const struct timespec pause = { .tv_nsec = ns };

    nanosleep(&pause, NULL);
}

/* ---- One request to the server --------------------------------------------------------------- */

struct asking {
    const struct monitor_watch *watch;
    const char *doing; /* passed to watch->stopped */
};

static bool watch_stops(void *context)
{
    const struct asking *asking = context;

    return asking->watch->stopped(asking->watch->context, asking->doing);
}

static bool scrape(struct server_monitor *monitor, struct asking *asking,
                   struct engine_metrics_snapshot *out)
{
    struct small_request ask;
    struct error error = { 0 };
    bool may_ask = endpoint_renew(&monitor->endpoint, &error);

    ask = small_request_begin(&monitor->endpoint, TIMEOUT_MS);
    ask.cancelled = watch_stops;
    ask.context = asking;
    if (may_ask && metrics_map_fetch(&ask, out, &error)) {
        monitor_log_add(&monitor->observations.log, out);
        return true;
    }
    text_copy(monitor->observations.scrape_problem, sizeof monitor->observations.scrape_problem,
              error.message);
    return false;
}

/* Finds the model by its name. If the server lists only one model, returns that one whatever its
 * name, because the server might accept other names for it. */
static const json_t *find_model(const json_t *models, const char *id)
{
    const json_t *model;
    size_t i;

    json_array_foreach(models, i, model)
        if (strcmp(json_get_text(model, "id", ""), id) == 0)
            return model;
    return json_array_size(models) == 1 ? json_array_get(models, 0) : NULL;
}

/* Writes the model's name, and what distinguishes it from a different model with the same name:
 * its files and context length. */
static void describe_model(const json_t *model, char out[256])
{
    const char *id = json_get_text(model, "id", ""), *root = json_get_text(model, "root", id);
    int64_t context = json_get_integer(model, "max_model_len", 0);
    TEXT_AUTO words = { 0 }, shown = { 0 };

    text_addf(&words, "%s", id);
    if (strcmp(root, id) != 0)
        text_addf(&words, " from %s", root);
    if (context > 0)
        text_addf(&words, " (context %lld)", (long long)context);
    text_add_printable(&shown, text_string(&words), words.length, 255);
    text_copy(out, 256, text_string(&shown));
}

/* Asks the server which model it serves. Writes "" if the request fails or its answer is not JSON,
 * and "MODEL (not listed)" if find_model does not find the model in the answer. */
static void ask_served(struct server_monitor *monitor, struct asking *asking, char out[256])
{
    struct small_request ask = small_request_begin(&monitor->endpoint, TIMEOUT_MS);
    json_auto_t *answer = NULL;
    enum failure failure;
    struct error ignored;
    const json_t *model;

    ask.cancelled = watch_stops;
    ask.context = asking;
    out[0] = '\0';
    if (!small_request_json(&ask, "/v1/models", NULL, &answer, &failure, &ignored))
        return;
    model = find_model(json_object_get(answer, "data"), monitor->endpoint.model);
    if (model != NULL)
        describe_model(model, out);
    else
        snprintf(out, 256, "%.200s (not listed)", monitor->endpoint.model);
}

/* ---- Idle points ----------------------------------------------------------------------------- */

static bool is_quiet(const struct engine_metrics_snapshot *snapshot)
{
    return !(snapshot->requests_running > 0) && !(snapshot->requests_waiting > 0);
}

static bool differ(double a, double b)
{
    return fabs(engine_metrics_growth(a, b)) > 1e-9; /* false if `b` is not reported (NaN) */
}

static bool have_changed(const struct engine_metrics_snapshot *from,
                         const struct engine_metrics_snapshot *to)
{
    return differ(from->requests_total, to->requests_total)
           || differ(from->prompt_tokens_total, to->prompt_tokens_total)
           || differ(from->generation_tokens_total, to->generation_tokens_total);
}

/* Returns true if the server has counted at least what it answered. Counters that the server does
 * not report are not compared. */
static bool has_counted(const struct engine_metrics_snapshot *first,
                        const struct engine_metrics_snapshot *last, const struct sent *sent)
{
    return !(engine_metrics_growth(first->requests_total, last->requests_total)
             < (double)sent->requests)
           && !(engine_metrics_growth(first->generation_tokens_total, last->generation_tokens_total)
                < (double)sent->output_tokens);
}

/* A wait for the server to be idle. */
struct waiting {
    struct asking asking;
    const char *for_idle;    /* asking.doing while the server answers */
    const char *for_return;  /* asking.doing while it does not */
    double silent_limit_s;   /* how long after begun_ns to give up if the server does not answer */
    const struct sent *sent; /* what the server should have counted; NULL: not checked */
    int64_t begun_ns, first_answer_ns, changed_ns;
    struct engine_metrics_snapshot before;
};

/* Checks once. Returns true if the wait is over; *point then says how it ended. The server
 * counts as idle if no counter changed since the last check and nothing runs or waits, or if no
 * counter changed for STILL_S. If waiting->sent is not NULL, the server must also have counted what
 * was sent, or have had COUNTING_LIMIT_S to do so. */
static bool check_idle(struct server_monitor *monitor, struct waiting *waiting,
                       struct engine_metrics_snapshot *out, enum idle_wait *point)
{
    struct engine_metrics_snapshot now;
    bool first = waiting->first_answer_ns == 0, still;
    bool answers = scrape(monitor, &waiting->asking, &now);

    waiting->asking.doing = answers ? waiting->for_idle : waiting->for_return;
    if (!answers) {
        *point = POINT_SILENT;
        return seconds_since(waiting->begun_ns) >= waiting->silent_limit_s;
    }
    if (first)
        waiting->first_answer_ns = clock_monotonic_ns();
    still = !first && !have_changed(&waiting->before, &now);
    if (!still)
        waiting->changed_ns = clock_monotonic_ns();
    *out = waiting->before = now;
    *point = POINT_IDLE;
    if (replicas_are_several(&monitor->observations.log.instances))
        return true; /* one scrape cannot show that all are idle; await_census waits for that */
    if (still && (is_quiet(&now) || seconds_since(waiting->changed_ns) >= STILL_S)
        && (waiting->sent == NULL || has_counted(&monitor->observations.first, &now, waiting->sent)
            || seconds_since(waiting->first_answer_ns) >= COUNTING_LIMIT_S))
        return true;
    *point = POINT_BUSY;
    return seconds_since(waiting->first_answer_ns) >= IDLE_LIMIT_S;
}

/* Repeats check_idle until the wait is over, or until the watch stops it. */
static enum idle_wait reach_idle(struct server_monitor *monitor, struct waiting *waiting,
                                 struct engine_metrics_snapshot *out)
{
    enum idle_wait point;

    waiting->begun_ns = clock_monotonic_ns();
    while (!check_idle(monitor, waiting, out, &point)) {
        if (watch_stops(&waiting->asking))
            return POINT_STOPPED;
        pause_ns(PAUSE_NS);
    }
    return point;
}

/* Scrapes a few more times to find out whether several instances answer: if they do, differences
 * between the counters of two scrapes mean nothing. */
static void look_for_instances(struct server_monitor *monitor, struct asking *asking)
{
    struct engine_metrics_snapshot ignored;

    for (int i = 0;
         i < CONFIRM_SCRAPES && !replicas_are_several(&monitor->observations.log.instances); i++) {
        pause_ns(CONFIRM_PAUSE_NS);
        if (watch_stops(asking) || !scrape(monitor, asking, &ignored))
            return;
    }
}

static void take_census(struct server_monitor *monitor, struct asking *asking, struct census *out)
{
    struct engine_metrics_snapshot snapshot;

    *out = (struct census){ 0 };
    while (!census_is_over(out) && !watch_stops(asking) && scrape(monitor, asking, &snapshot)) {
        census_note(out, &snapshot);
        pause_ns(CENSUS_PAUSE_NS);
    }
}

/* Takes a census. If there are several instances, takes censuses until one is complete (which
 * requires all instances to be idle), until IDLE_LIMIT_S is over, or until the watch stops it. */
static void await_census(struct server_monitor *monitor, struct asking *asking, struct census *out)
{
    const struct replicas *instances = &monitor->observations.log.instances;
    int64_t begun_ns = clock_monotonic_ns();

    do
        take_census(monitor, asking, out);
    while (replicas_are_several(instances) && !census_is_complete(out)
           && seconds_since(begun_ns) < IDLE_LIMIT_S && !watch_stops(asking));
}

/* To be called if several instances answer in turn. Changes the observations `first` and `last` to
 * show what all instances together counted in between, unless the censuses cannot show that. */
static void count_all(struct server_monitor *monitor, struct asking *asking,
                      const struct sent *sent)
{
    int64_t begun_ns = clock_monotonic_ns();
    struct monitor_observations *observations = &monitor->observations;
    struct engine_metrics_snapshot growth;
    struct census census;

    do {
        await_census(monitor, asking, &census);
        if (!census_growth(&monitor->census, &census, &growth))
            return;
        observations->counted = (int64_t)census.count;
        metrics_map_clear(&observations->first);
        observations->last = growth;
    } while (!has_counted(&observations->first, &observations->last, sent)
             && seconds_since(begun_ns) < COUNTING_LIMIT_S && !watch_stops(asking));
}

/* ---- The monitor's thread -------------------------------------------------------------------- */

static bool is_stopping(void *context, const char *doing)
{
    struct server_monitor *monitor = context;

    (void)doing;
    return atomic_load(&monitor->stopping);
}

static void wait_until(struct server_monitor *monitor, int64_t at_ns)
{
    const struct timespec until = { at_ns / 1000000000, at_ns % 1000000000 };

    pthread_mutex_lock(&monitor->lock);
    while (!atomic_load(&monitor->stopping) && clock_monotonic_ns() < at_ns)
        pthread_cond_timedwait(&monitor->stopped, &monitor->lock, &until);
    pthread_mutex_unlock(&monitor->lock);
}

static void *run(void *context)
{
    struct server_monitor *monitor = context;
    const struct monitor_watch watch = { is_stopping, monitor };
    struct asking asking = { &watch, "" };
    struct engine_metrics_snapshot ignored;
    int64_t at_ns = clock_monotonic_ns();

    while (!atomic_load(&monitor->stopping)) {
        int64_t now_ns = clock_monotonic_ns();

        at_ns = at_ns + INTERVAL_NS > now_ns ? at_ns + INTERVAL_NS : now_ns;
        wait_until(monitor, at_ns);
        if (!atomic_load(&monitor->stopping))
            scrape(monitor, &asking, &ignored);
    }
    return NULL;
}

static void start_thread(struct server_monitor *monitor)
{
    struct error problem;

    monitor->has_thread = thread_start("monitor", run, monitor, &monitor->thread, &problem);
    if (!monitor->has_thread)
        log_warning("a cell is monitored only at its start and end: %s", problem.message);
}

static void stop_thread(struct server_monitor *monitor)
{
    pthread_mutex_lock(&monitor->lock);
    atomic_store(&monitor->stopping, true);
    pthread_cond_signal(&monitor->stopped);
    pthread_mutex_unlock(&monitor->lock);
    if (monitor->has_thread)
        pthread_join(monitor->thread, NULL);
    monitor->has_thread = false;
}

/* ---- Exported functions ---------------------------------------------------------------------- */

static struct server_monitor *create(const struct endpoint *endpoint, int64_t instances,
                                     const struct monitor_watch *watch)
{
    struct server_monitor *monitor = memory_zeroed(1, sizeof *monitor);

    monitor->endpoint = *endpoint;
    monitor->watch = *watch;
    monitor->observations.instances = instances;
    pthread_mutex_init(&monitor->lock, NULL);
    thread_condition_init(&monitor->stopped);
    return monitor;
}

static void destroy(struct server_monitor *monitor)
{
    stop_thread(monitor);
    pthread_cond_destroy(&monitor->stopped);
    pthread_mutex_destroy(&monitor->lock);
    monitor_log_finish(&monitor->observations.log);
    explicit_bzero(monitor, sizeof *monitor);
    free(monitor);
}

struct server_monitor *server_monitor_begin(const struct endpoint *endpoint, int64_t instances,
                                            const struct monitor_watch *watch)
{
    struct server_monitor *monitor = create(endpoint, instances, watch);
    static const char for_idle[] = "waiting for the server to be idle";
    struct waiting waiting = { { watch, for_idle }, for_idle, for_idle, .silent_limit_s = 0 };
    struct monitor_observations *observations = &monitor->observations;

    ask_served(monitor, &waiting.asking, observations->served_first);
    observations->begin = reach_idle(monitor, &waiting, &observations->first);
    if (observations->begin == POINT_IDLE)
        await_census(monitor, &waiting.asking, &monitor->census);
    if (observations->begin == POINT_IDLE || observations->begin == POINT_BUSY)
        start_thread(monitor);
    return monitor;
}

static bool had_failures(const struct cell_result *result)
{
    return result->state == CELL_FAILED || result->measurement.success_rate < 1;
}

/* Returns true if the server counted more than was sent, or seems to have restarted: several
 * instances would explain either. */
static bool may_be_several(const struct monitor_observations *observations,
                           const struct cell_result *result)
{
    struct reconciliation counts;

    reconcile(&observations->first, &observations->last, &result->sent, &counts);
    return counts.has_foreign || replicas_have_restarted(&observations->log.instances);
}

static void reach_last_point(struct server_monitor *monitor, const struct cell_result *result)
{
    struct monitor_observations *observations = &monitor->observations;
    static const char for_idle[] = "waiting for the server to be idle again";
    double limit_s = had_failures(result) ? RETURN_LIMIT_S : BROKEN_LIMIT_S;
    char for_return[96];
    struct waiting waiting = { { &monitor->watch, for_idle },
                               for_idle,
                               for_return,
                               .silent_limit_s = limit_s,
                               .sent = &result->sent };

    snprintf(for_return, sizeof for_return, "no answer, waiting up to %.0f s for the model server",
             limit_s);
    observations->end = reach_idle(monitor, &waiting, &observations->last);
    if (observations->end == POINT_IDLE && may_be_several(observations, result))
        look_for_instances(monitor, &waiting.asking);
    if (observations->end == POINT_IDLE && replicas_are_several(&observations->log.instances))
        count_all(monitor, &waiting.asking, &result->sent);
}

void server_monitor_end(struct server_monitor *monitor, const struct cell_result *result,
                        struct cross_check *out)
{
    struct monitor_observations *observations = &monitor->observations;
    struct asking asking = { &monitor->watch, "asking the server which model it serves" };

    stop_thread(monitor);
    *out = (struct cross_check){ 0 };
    if (result != NULL) {
        if (observations->begin == POINT_IDLE || observations->begin == POINT_BUSY)
            reach_last_point(monitor, result);
        ask_served(monitor, &asking, observations->served_last);
        monitor_report_write(observations, result, out);
    }
    destroy(monitor);
}
