/* SPDX-License-Identifier: Apache-2.0 */
/* Counts approximately how many bytes a principal has stored. */
#include <stddef.h>

#include "store/ledger/disk_space.h"
#include "store/ledger/store_private.h"

#define MIB 1048576.0
#define ROW "100 + " /* a row without its long columns has about 100 bytes */

/* A query that counts the bytes of some data. For TEXT columns, the queries use octet_length,
 * because `length` would count characters. */
struct source {
    size_t member;         /* offset, in struct usage, of the number that the bytes are added to */
    const char *statement; /* ?1: the principal */
};

#define OF(member) offsetof(struct usage, member)
#define FROM_ATTEMPTS "FROM jobs JOIN attempts ON attempts.job_id = jobs.id "
#define OF_PRINCIPAL "WHERE jobs.principal = ?1"

static const struct source sources[] = {
    { OF(imports_bytes),
      "SELECT sum(" ROW
      "octet_length(stated) + octet_length(document)) FROM imports WHERE principal = ?1" },
    { OF(imports_bytes),
      "SELECT sum(" ROW "octet_length(c.document)) FROM imports i JOIN import_cells c "
      "ON c.import_id = i.id WHERE i.principal = ?1" },
    { OF(datasets_bytes),
      "SELECT sum(" ROW
      "octet_length(lengths) + length(data)) FROM datasets WHERE principal = ?1" },
    { OF(sweeps_bytes), "SELECT sum(" ROW "octet_length(outcome)) FROM jobs WHERE principal = ?1" },
    { OF(sweeps_bytes),
      "SELECT sum(" ROW "octet_length(plan) + (SELECT count(*) FROM "
      "cells WHERE sweep_id = sweeps.id) * 100) FROM sweeps WHERE principal = ?1" },
    { OF(sweeps_bytes),
      "SELECT sum(" ROW
      "octet_length(measurement) + octet_length(witness)) " FROM_ATTEMPTS OF_PRINCIPAL },
    { OF(sweeps_bytes), "SELECT sum(" ROW "length(r.data)) " FROM_ATTEMPTS
                        "JOIN request_records r ON r.attempt_id = attempts.id " OF_PRINCIPAL },
    { OF(sweeps_bytes), "SELECT sum(" ROW "length(s.data)) " FROM_ATTEMPTS
                        "JOIN attempt_series s ON s.attempt_id = attempts.id " OF_PRINCIPAL },
    { OF(sweeps_bytes), "SELECT sum(" ROW "length(h.data)) " FROM_ATTEMPTS
                        "JOIN histograms h ON h.attempt_id = attempts.id " OF_PRINCIPAL },
    { OF(deployments_bytes),
      "SELECT sum(" ROW "octet_length(url) + octet_length(labels) + octet_length(limits)) FROM "
      "deployment_revisions WHERE created_by = ?1" },
};

static CHECKED bool add_source(struct sql_connection *connection, const struct source *source,
                               const char *principal, struct usage *usage, struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, source->statement);

    sql_bind_text(&sql, 1, principal);
    if (sql_step(&sql, error) != SQL_ROW)
        return false;
    *(int64_t *)((char *)usage + source->member) += sql_integer(&sql, 0);
    return true;
}

static CHECKED bool read_usage(struct sql_connection *connection, const char *principal,
                               struct usage *out, struct error *error)
{
    struct usage usage = { 0 };

    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        if (!add_source(connection, &sources[i], principal, &usage, error))
            return false;
    *out = usage;
    return true;
}

bool usage_read(struct store *store, const char *principal, struct usage *out, struct error *error)
{
    READER_AUTO reader = database_reader(store->main);

    return read_usage(reader.connection, principal, out, error);
}

bool usage_check_in(struct sql_connection *connection, const char *principal, int64_t limit_bytes,
                    struct error *error)
{
    struct usage usage;
    int64_t all;

    if (limit_bytes == 0)
        return true;
    if (!read_usage(connection, principal, &usage, error))
        return false;
    all = usage.imports_bytes + usage.datasets_bytes + usage.sweeps_bytes + usage.deployments_bytes;
    return all < limit_bytes
           || error_set(
               error, ERROR_CONFLICT,
               "%s has stored %.1f MiB (imports %.1f, datasets %.1f, sweeps %.1f, "
               "deployments %.1f), at least as much as the setting storage_limit_bytes "
               "allows (%.1f MiB): wait until raw records of sweeps are deleted (setting "
               "records_days), or have an admin raise the limit, which does not apply to admins",
               principal, (double)all / MIB, (double)usage.imports_bytes / MIB,
               (double)usage.datasets_bytes / MIB, (double)usage.sweeps_bytes / MIB,
               (double)usage.deployments_bytes / MIB, (double)limit_bytes / MIB);
}

bool usage_check(struct store *store, const char *principal, int64_t limit_bytes,
                 struct error *error)
{
    READER_AUTO reader = database_reader(store->main);

    return usage_check_in(reader.connection, principal, limit_bytes, error);
}
