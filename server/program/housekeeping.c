/* SPDX-License-Identifier: Apache-2.0 */
#include "server/program/housekeeping.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/core/clock.h"
#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/core/thread.h"
#include "server/access/authority.h"
#include "server/access/sign_ins.h"
#include "server/program/server.h"
#include "server/streams/session.h"
#include "store/audit/audit_log.h"
#include "store/audit/audit_verify.h"
#include "store/ledger/disk_space.h"
#include "store/ledger/plausible_time.h"
#include "store/ledger/store.h"
#include "store/series/scrapes.h"

#define ROUND_S 60 /* pause between two rounds */
#define RETAIN_EVERY_ROUNDS 60
#define LOG_NEWEST_EVERY_ROUNDS 60
#define CHECK_AUDIT_EVERY_ROUNDS (24 * 60)

struct housekeeping {
    struct server *server;
    bool disk_is_nearly_full; /* as of the last disk_space_check */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t woken;
    atomic_bool stopping;
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

    if (!store_apply_retention(server->services->store, &retention, now_ms, &error))
        log_warning("old rows could not be deleted: %s", error.message);
}

static void compact(struct server *server, int64_t now_ms)
{
    struct error error;

    if (!scrape_compact(server->services->store, now_ms, &error))
        log_warning("scraped metrics could not be rolled up: %s", error.message);
}

/* If the keys could not be read, tries again. Until they can be read, no key is accepted. */
static void read_stale_keys(struct server *server)
{
    struct error error;

    if (!authority_is_stale(server->authority))
        return;
    if (authority_refresh(server->authority, &error))
        log_info("the API keys can be read again");
    else
        log_error("the API keys still cannot be read: %s", error.message);
}

/* Logs once when the disk becomes nearly full, and once when it has enough room again. */
static void check_disk(struct housekeeping *housekeeping)
{
    struct error error;
    bool disk_is_nearly_full = !disk_space_check(housekeeping->server->services->store, &error);

    if (disk_is_nearly_full && !housekeeping->disk_is_nearly_full)
        log_warning("%s", error.message);
    if (!disk_is_nearly_full && housekeeping->disk_is_nearly_full)
        log_info("the data folder's disk has enough room again");
    housekeeping->disk_is_nearly_full = disk_is_nearly_full;
}

/* Checks every row of the audit log. The check before a row is added covers only the log's end. */
static void check_audit(struct housekeeping *housekeeping)
{
    struct audit_verdict verdict;
    struct error error;
    TEXT_AUTO words = { 0 };

    if (!audit_verify(housekeeping->server->services->store, NULL, &housekeeping->stopping,
                      &verdict, &error)) {
        if (error.kind != ERROR_CANCELLED)
            log_error("the audit log cannot be checked: %s", error.message);
        return;
    }
    audit_verdict_describe(&verdict, &words);
    if (verdict.intact)
        log_info("%s", text_string(&words));
    else
        log_error("%s", text_string(&words));
}

/* Logs the id and digest of the newest row, for `opsbrain audit-log verify --digest`. An attacker
 * who rewrites the whole audit log cannot also change a copy of the server's log on another
 * machine. */
static void log_newest(struct server *server)
{
    struct audit_mark newest;
    struct error error;

    if (!audit_newest(server->services->store, &newest, &error))
        log_error("the audit log cannot be read: %s", error.message);
    else
        log_info("audit: newest row and digest %lld:%s", (long long)newest.id, newest.digest);
}

static void write_counts(struct server *server)
{
    struct error error;

    if (!audit_log_flush(server->services->store, &error))
        log_warning("counted calls could not be written to the audit log: %s", error.message);
}

/* Waits for the next round. Returns false if the thread must stop. */
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

    check_disk(housekeeping);
    check_audit(housekeeping);
    for (unsigned round = 0; sleep_round(housekeeping); round++) {
        int64_t plausible_ms = plausible_time_now(server->services->store).now_ms;

        if (round % CHECK_AUDIT_EVERY_ROUNDS == CHECK_AUDIT_EVERY_ROUNDS - 1)
            check_audit(housekeeping);
        else if (round % LOG_NEWEST_EVERY_ROUNDS == LOG_NEWEST_EVERY_ROUNDS - 1)
            log_newest(server);
        check_disk(housekeeping);
        read_stale_keys(server);
        write_counts(server);
        sessions_tidy(server->sessions, plausible_ms);
        sign_ins_expire(server->sign_ins);
        compact(server, clock_utc_ms());
        if (round % RETAIN_EVERY_ROUNDS == 0)
            retain(server, plausible_ms);
    }
    return NULL;
}

bool housekeeping_create(struct server *server, struct housekeeping **out, struct error *error)
{
    struct housekeeping *housekeeping = memory_zeroed(1, sizeof *housekeeping);

    housekeeping->server = server;
    atomic_init(&housekeeping->stopping, false);
    pthread_mutex_init(&housekeeping->lock, NULL);
    thread_condition_init(&housekeeping->woken);
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
