/* SPDX-License-Identifier: Apache-2.0 */
#include "server/program/metrics_endpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/core/descriptors.h"
#include "base/core/workers.h"
#include "base/formats/promtext.h"
#include "handlers/charts/pictures.h"
#include "jobs/job_pool.h"
#include "server/http/http.h"
#include "server/streams/session.h"
#include "server/telemetry/telemetry.h"
#include "store/audit/audit_verify.h"
#include "store/ledger/disk_space.h"
#include "store/ledger/plausible_time.h"
#include "store/ledger/store.h"

static void write_gauge(struct text *out, const char *name, const char *help, double value)
{
    promtext_family(out, name, PROMTEXT_GAUGE, help);
    promtext_value(out, name, NULL, value);
}

static void write_queues(const struct metrics_sources *sources, struct text *out)
{
    promtext_family(
        out, "opsbrain_queue_depth", PROMTEXT_GAUGE,
        "Calls that wait for a thread; with queue=\"store\", writes that wait for the database.");
    promtext_value(out, "opsbrain_queue_depth", "queue=\"workers\"",
                   (double)workers_queued(sources->workers));
    promtext_value(out, "opsbrain_queue_depth", "queue=\"waiting\"",
                   (double)workers_queued(sources->waiting));
    promtext_value(
        out, "opsbrain_queue_depth", "queue=\"pages\"",
        (double)(workers_queued(sources->pages_workers) + workers_queued(sources->pages_waiting)));
    promtext_value(out, "opsbrain_queue_depth", "queue=\"store\"",
                   (double)store_queued(sources->services->store));
}

static void write_jobs(const struct metrics_sources *sources, struct text *out)
{
    int64_t counts[JOB_CANCELLED + 1];
    struct error error;

    write_gauge(out, "opsbrain_jobs_running",
                "Jobs that this process is running, including sweeps.",
                (double)job_pool_running(sources->services->jobs));
    if (!job_counts(sources->services->store, counts, &error))
        return;
    promtext_family(out, "opsbrain_jobs", PROMTEXT_GAUGE, "Jobs by state.");
    for (enum job_state state = 0; state <= JOB_CANCELLED; state++) {
        char label[64];

        snprintf(label, sizeof label, "state=\"%s\"", job_state_name(state));
        promtext_value(out, "opsbrain_jobs", label, (double)counts[state]);
    }
}

static void write_pictures(const struct metrics_sources *sources, struct text *out)
{
    struct pictures_counts counts = pictures_count(sources->services->pictures);

    promtext_family(out, "opsbrain_pictures_total", PROMTEXT_COUNTER,
                    "Charts returned as PNG: drawn, or kept from an earlier request.");
    promtext_value(out, "opsbrain_pictures_total", "source=\"drawn\"", (double)counts.drawn);
    promtext_value(out, "opsbrain_pictures_total", "source=\"kept\"", (double)counts.reused);
    write_gauge(out, "opsbrain_pictures_bytes", "Size of the charts that are kept as PNG.",
                (double)counts.bytes);
}

static void write_disk(const struct metrics_sources *sources, struct text *out)
{
    struct disk_space disk;

    disk_space_read(sources->services->store, &disk);
    write_gauge(out, "opsbrain_disk_free_bytes", "Free space on the disk of the data folder.",
                (double)disk.free_bytes);
    write_gauge(out, "opsbrain_disk_reserve_bytes",
                "Free space reserved for running jobs and admins; if less is free, other new work "
                "is refused.",
                (double)disk.reserve_bytes);
}

static void write_audit(const struct metrics_sources *sources, struct text *out)
{
    struct audit_verdict verdict;

    if (audit_last_verdict(sources->services->store, &verdict))
        write_gauge(out, "opsbrain_audit_whole",
                    "Whether the last check found the audit log intact (1) or not (0).",
                    verdict.intact);
}

static double resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    char line[128] = ""; /* "TOTAL RESIDENT ...", in pages */
    const char *resident;

    if (file == NULL)
        return 0;
    resident = fgets(line, sizeof line, file) != NULL ? strchr(line, ' ') : NULL;
    fclose(file);
    if (resident == NULL)
        return 0;
    return (double)strtol(resident, NULL, 10) * (double)sysconf(_SC_PAGESIZE);
}

static void write_process(struct text *out)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    promtext_family(out, "process_cpu_seconds_total", PROMTEXT_COUNTER,
                    "CPU time, user and system.");
    promtext_value(out, "process_cpu_seconds_total", NULL,
                   (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
                       + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
    write_gauge(out, "process_resident_memory_bytes", "Resident memory.", resident_bytes());
    write_gauge(out, "process_open_fds", "Open file descriptors.", (double)descriptors_count());
}

void metrics_endpoint_write(const struct metrics_sources *sources, struct text *out)
{
    promtext_family(out, "opsbrain_info", PROMTEXT_GAUGE, "The version, as a label.");
    promtext_value(out, "opsbrain_info", "version=\"" OPSBRAIN_VERSION "\"", 1);
    telemetry_write(sources->telemetry, out);
    write_gauge(out, "opsbrain_requests_in_flight", "Requests that are being answered.",
                atomic_load(&sources->http->in_flight));
    write_gauge(out, "opsbrain_connections_open", "Open HTTP connections.",
                (double)atomic_load(&sources->http->open_connections));
    write_gauge(out, "opsbrain_streams_open", "Open event streams.",
                atomic_load(&sources->http->open_streams));
    write_gauge(out, "opsbrain_sessions", "Stored sessions.",
                (double)sessions_count(sources->sessions));
    write_queues(sources, out);
    write_jobs(sources, out);
    write_pictures(sources, out);
    write_disk(sources, out);
    write_gauge(out, "opsbrain_database_bytes", "Size of the database files.",
                (double)store_size_bytes(sources->services->store));
    write_gauge(out, "opsbrain_data_folder_intact",
                "Whether the database files are in place (1), or were deleted or replaced (0), so "
                "that nothing more is stored.",
                store_intact(sources->services->store));
    write_gauge(out, "opsbrain_clock_ahead_seconds",
                "How far the wall clock is ahead of the trusted time; 0 if it is not ahead.",
                (double)plausible_time_now(sources->services->store).ahead_ms / 1e3);
    write_audit(sources, out);
    write_process(out);
}
