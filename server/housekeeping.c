#include "server/housekeeping.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "server/server.h"
#include "server/session.h"
#include "server/thread.h"
#include "store/audit.h"
#include "store/scrapes.h"

#define ROUND_S 60
#define RETAIN_EVERY_ROUNDS 60

struct housekeeping {
    struct server *server;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t woken;
    bool stopping;
};

static void retain(struct server *server, int64_t now_ms)
{
    const struct settings *settings = server->settings;
    const struct retention retention = {
        .records_days = settings->records_days,
        .jobs_days = settings->jobs_days,
        .audit_days = settings->audit_days,
        .samples_days = settings->samples_days,
        .samples_10s_days = settings->samples_10s_days,
        .samples_1m_days = settings->samples_1m_days,
        .samples_1h_days = settings->samples_1h_days,
    };
    struct error error;

    if (!store_retain(server->services->store, &retention, now_ms, &error))
        log_warning("old rows are not deleted: %s", error.message);
}

static void compact(struct server *server, int64_t now_ms)
{
    struct error error;

    if (!scrape_compact(server->services->store, now_ms, &error))
        log_warning("scraped metrics are not rolled up: %s", error.message);
}

static void write_counts(struct server *server)
{
    struct error error;

    if (!audit_flush(server->services->store, &error))
        log_warning("what was counted for the audit is not written: %s", error.message);
}

/* False: it is time to stop. */
static bool sleep_round(struct housekeeping *housekeeping)
{
    struct timespec until;
    bool stopping;
    int failed = 0;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ROUND_S;
    pthread_mutex_lock(&housekeeping->lock);
    while (!housekeeping->stopping && failed == 0)
        failed = pthread_cond_timedwait(&housekeeping->woken, &housekeeping->lock, &until);
    stopping = housekeeping->stopping;
    pthread_mutex_unlock(&housekeeping->lock);
    return !stopping;
}

static void *run_thread(void *context)
{
    struct housekeeping *housekeeping = context;
    struct server *server = housekeeping->server;

    for (unsigned round = 0; sleep_round(housekeeping); round++) {
        write_counts(server);
        sessions_tidy(server->sessions, clock_utc_ms());
        compact(server, clock_utc_ms());
        if (round % RETAIN_EVERY_ROUNDS == 0)
            retain(server, clock_utc_ms());
    }
    return NULL;
}

bool housekeeping_create(struct server *server, struct housekeeping **out, struct error *error)
{
    struct housekeeping *housekeeping = memory_zeroed(1, sizeof *housekeeping);
    pthread_condattr_t monotonic;

    housekeeping->server = server;
    pthread_mutex_init(&housekeeping->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&housekeeping->woken, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (!thread_start("housekeeping", run_thread, housekeeping, &housekeeping->thread, error)) {
        free(housekeeping);
        return false;
    }
    *out = housekeeping;
    return true;
}

void housekeeping_destroy(struct housekeeping *housekeeping)
{
    if (housekeeping == NULL)
        return;
    pthread_mutex_lock(&housekeeping->lock);
    housekeeping->stopping = true;
    pthread_cond_signal(&housekeeping->woken);
    pthread_mutex_unlock(&housekeeping->lock);
    pthread_join(housekeeping->thread, NULL);
    pthread_cond_destroy(&housekeeping->woken);
    pthread_mutex_destroy(&housekeeping->lock);
    free(housekeeping);
}
