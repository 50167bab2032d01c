/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/core/random.h"
#include "base/core/text.h"
#include "migrations/migrations.h"
#include "store/audit/audit_log.h"
#include "store/audit/audit_verify.h"
#include "store/ledger/deployments.h"
#include "store/ledger/secret_origins.h"
#include "store/ledger/store.h"
#include "store/ledger/sweeps.h"
#include "tests/unit/support/ledger.h"

#define PATIENCE_MS 20000
#define KILLS 12
#define WRITERS 3
#define CELLS 6

struct data_folder {
    char folder[FOLDER_SIZE], file[FOLDER_SIZE + 16];
    struct error error;
};

static int set_up(void **state)
{
    struct data_folder *data = calloc(1, sizeof *data);

    folder_create(data->folder);
    snprintf(data->file, sizeof data->file, "%s/opsbrain.db", data->folder);
    *state = data;
    return 0;
}

static int tear_down(void **state)
{
    struct data_folder *data = *state;

    folder_remove(data->folder);
    free(data);
    return 0;
}

static struct store *open_store(struct data_folder *data)
{
    struct store *store;

    assert_ok(data, store_open(data->folder, "", 2, &store, &data->error));
    return store;
}

static bool opens(struct data_folder *data)
{
    struct store *store = NULL;
    bool ok = store_open(data->folder, "", 2, &store, &data->error);

    assert_true(ok || store == NULL);
    store_close(store);
    return ok;
}

/* Runs a script on the file, bypassing the store. */
static void run_sql(const char *file, const char *script)
{
    sqlite3 *db;

    assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, script, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static int keep_text(void *context, int columns, char **values, char **names)
{
    (void)columns;
    (void)names;
    snprintf(context, 200, "%s", values[0]);
    return 0;
}

static void read_sql(const char *file, const char *query, char out[200])
{
    sqlite3 *db;

    *out = '\0';
    assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, query, keep_text, out, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void overwrite(const char *file, off_t offset, size_t length)
{
    int fd = open(file, O_WRONLY);
    char *garbage = malloc(length);

    memset(garbage, 0x5a, length);
    assert_int_equal(pwrite(fd, garbage, length, offset), (ssize_t)length);
    free(garbage);
    close(fd);
}

static void makes_a_private_folder_with_private_files(void **state)
{
    struct data_folder *data = *state;
    struct stat status;
    struct store *store;
    size_t length = strlen(data->folder);

    text_copy(data->folder + length, sizeof data->folder - length, "/a/b");
    store = open_store(data);
    assert_int_equal(stat(data->folder, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    snprintf(data->file, sizeof data->file, "%.60s/opsbrain.db", data->folder);
    assert_int_equal(stat(data->file, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    snprintf(data->file, sizeof data->file, "%.60s/opsbrain.db-wal", data->folder);
    assert_int_equal(stat(data->file, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_ok(data, store_check(store, &data->error));
    assert_true(store_size_bytes(store) > 0);
    assert_int_equal(store_queued(store), 0);
    store_close(store);
    data->folder[strlen(data->folder) - 4] = '\0';
}

static void refuses_a_folder_that_cannot_be_made(void **state)
{
    struct data_folder *data = *state;
    struct store *store;

    close(open(data->file, O_WRONLY | O_CREAT, 0600));
    assert_refused(data, store_open(data->file, "", 2, &store, &data->error), ERROR_INVALID,
                   "cannot be used");
    assert_refused(data, store_open("", "", 2, &store, &data->error), ERROR_INVALID, "empty");
}

static void refuses_a_newer_database_and_leaves_it_alone(void **state)
{
    struct data_folder *data = *state;
    char version[200];

    store_close(open_store(data));
    run_sql(data->file, "PRAGMA user_version = 700");
    assert_refused(data, opens(data), ERROR_CONFLICT,
                   "has version 700, but this opsbrain supports up to");
    assert_non_null(strstr(data->error.message, "run a newer opsbrain or restore a backup"));
    read_sql(data->file, "PRAGMA user_version", version);
    assert_string_equal(version, "700");
}

/* Writes a file of version 6 with one measured cell. */
static void write_version_6(const char *file)
{
    TEXT_AUTO script = { 0 };

    for (int i = 0; i < 6; i++)
        text_addf(&script, "%s;", migrations_sqlite_main.rows[i].sql);
    text_add(&script,
             "INSERT INTO deployments VALUES (3, 'gemma', 2, 1, NULL);"
             "INSERT INTO jobs (id, kind, subject, state, principal, created_ms) VALUES "
             "('job_1', 'sweep', 'swp_1', 'completed', 'ada', 1);"
             "INSERT INTO sweeps (id, deployment_id, revision, job_id, plan, plan_digest, state, "
             "principal, created_ms) VALUES ('swp_1', 3, 2, 'job_1', '{}', '', 'completed', 'ada', "
             "1);"
             "INSERT INTO runs VALUES ('run_1', 'swp_1', 0, NULL, '{}', 1, 2);"
             "INSERT INTO cells VALUES (7, 'swp_1', 'run_1', 0, 16, 128, 64, 'measured', '', NULL);"
             "INSERT INTO attempts (id, cell_id, number, job_id, fence, state, started_ms) VALUES "
             "(9, 7, 1, 'job_1', 1, 'accepted', 1);"
             "UPDATE cells SET attempt_id = 9;"
             "PRAGMA application_id = 1869640546; PRAGMA user_version = 6;");
    run_sql(file, text_string(&script));
}

static void keeps_the_runs_and_cells_of_version_6(void **state)
{
    struct data_folder *data = *state;
    struct cell_row *cells;
    struct run_row run;
    struct store *store;
    size_t count;

    write_version_6(data->file);
    store = open_store(data);
    assert_ok(data, cell_list(store, "swp_1", NULL, &cells, &count, &data->error));
    assert_int_equal(count, 1);
    assert_int_equal(cells[0].id, 7);
    assert_int_equal(cells[0].attempt_id, 9);
    assert_int_equal(cells[0].attempts, 1);
    assert_int_equal(cells[0].state, CELL_MEASURED);
    assert_true(cells[0].request_rate == 0);
    assert_ok(data, run_find(store, "run_1", &run, &data->error));
    assert_string_equal(run.deployment, "gemma");
    assert_int_equal(run.revision, 2);
    assert_string_equal(run.corrects, "");
    cell_rows_free(cells, count);
    free(run.fingerprint_document);
    free(run.provenance);
    store_close(store);
}

/* Writes a file of version 12, in which secrets are not bound to origins and deployments have no
 * owners. Each deployment's name says who set its URL, or what was changed later. */
static void write_version_12(const char *file)
{
    static const char *const deployments[][3] = {
        { "by-admin", "ada", "ADMIN" },
        { "by-operator", "otto", "OPERATOR" },
        { "by-local", "local", "LOCAL" },
        { "by-nobody-known", "eve", "NOBODY" },
        { "admin-relabelled-it", "otto", "RE" },
        { "operator-relabelled-it", "ada", "LABEL" },
        { "retired", "ada", "GONE" },
        { "operator-moved-it", "ada", "MOVED" },
        { "admin-moved-it", "otto", "BROUGHT" },
    };
    TEXT_AUTO script = { 0 };

    for (int i = 0; i < 12; i++)
        text_addf(&script, "%s;", migrations_sqlite_main.rows[i].sql);
    text_add(&script, "INSERT INTO principals (name, role, created_ms) VALUES ('ada', 'admin', 1), "
                      "('otto', 'operator', 1);");
    for (size_t i = 0; i < sizeof deployments / sizeof *deployments; i++)
        text_addf(&script,
                  "INSERT INTO deployments (id, name, revision, created_ms) VALUES (%zu, '%s', 1, "
                  "1000);"
                  "INSERT INTO deployment_revisions VALUES (%zu, 1, 'HTTP://Host-%zu:80/v2', "
                  "'endpoint', '', '', '', '', '%s', '{}', '{}', 1000, '%s', '', '', 0);",
                  i, deployments[i][0], i, i, deployments[i][2], deployments[i][1]);
    text_add(
        &script,
        "INSERT INTO deployment_revisions SELECT deployment_id, 2, url, provider, model, engine, "
        "hardware, region, secret, '{\"a\":\"b\"}', limits, 2000, 'ada', '', '', 0 FROM "
        "deployment_revisions WHERE deployment_id = 4;"
        "INSERT INTO deployment_revisions SELECT deployment_id, 2, url, provider, model, engine, "
        "hardware, region, secret, '{\"a\":\"b\"}', limits, 2000, 'otto', '', '', 0 FROM "
        "deployment_revisions WHERE deployment_id = 5;"
        "INSERT INTO deployment_revisions SELECT deployment_id, 2, 'http://moved', provider, "
        "model, engine, hardware, region, secret, labels, limits, 2000, iif(deployment_id = 7, "
        "'otto', "
        "'ada'), '', '', 0 FROM deployment_revisions WHERE deployment_id IN (7, 8);"
        "UPDATE deployments SET revision = 2 WHERE id IN (4, 5, 7, 8);"
        "UPDATE deployments SET retired_ms = 3000 WHERE id = 6;"
        "PRAGMA application_id = 1869640546; PRAGMA user_version = 12;");
    run_sql(file, text_string(&script));
}

static void binds_secrets_of_version_12_only_to_urls_set_by_an_admin_or_the_user_local(void **state)
{
    static const char *const bound[][2] = {
        { "ADMIN", "http://host-0" },
        { "BROUGHT", "http://moved" },
        { "LABEL", "http://host-5" },
        { "LOCAL", "http://host-2" },
    };
    struct data_folder *data = *state;
    struct secret_origin *rows;
    struct deployment deployment;
    struct store *store;
    size_t count;
    bool changed;

    write_version_12(data->file);
    store = open_store(data);
    assert_ok(data, secret_origin_list(store, NULL, &rows, &count, &data->error));
    for (size_t i = 0; i < count && i < sizeof bound / sizeof *bound; i++) {
        assert_string_equal(rows[i].secret, bound[i][0]);
        assert_string_equal(rows[i].origin, bound[i][1]);
    }
    assert_int_equal(count, sizeof bound / sizeof *bound);
    free(rows);
    assert_ok(data,
              secret_origin_add(store, "ADMIN", "http://host-0", 1, NULL, &changed, &data->error));
    assert_false(changed); /* the migration had already bound it */
    assert_ok(data,
              secret_origin_remove(store, "ADMIN", "http://host-0", NULL, &changed, &data->error));
    assert_true(changed);
    assert_ok(data, secret_origin_list(store, "ADMIN", &rows, &count, &data->error));
    assert_int_equal(count, 0);
    free(rows);
    assert_ok(data, deployment_find(store, "operator-moved-it", &deployment, &data->error));
    assert_string_equal(deployment.owner, "ada");
    assert_string_equal(deployment.created_by, "otto");
    store_close(store);
}

static void does_not_upgrade_a_file_with_broken_references(void **state)
{
    struct data_folder *data = *state;
    char version[200];

    write_version_6(data->file);
    run_sql(data->file, "PRAGMA foreign_keys = OFF; UPDATE attempts SET cell_id = 8");
    assert_refused(data, opens(data), ERROR_INTERNAL, "table attempts refer to rows");
    read_sql(data->file, "PRAGMA user_version", version);
    assert_string_equal(version, "6");
}

static bool store_something(struct data_folder *data, struct store *store)
{
    struct change change = ledger_change("alice", "test");

    return audit_log_add(store, &change, "ok", "", "", &data->error);
}

/* Moves the file or folder away and, if `copied`, leaves a copy at its path. */
static void take_away(const char *path, bool copied)
{
    TEXT_AUTO command = { 0 };

    text_addf(&command, "mv %s %s.away%s%s%s%s", path, path, copied ? " && cp -r " : "",
              copied ? path : "", copied ? ".away " : "", copied ? path : "");
    assert_int_equal(system(text_string(&command)), 0);
}

static void put_back(const char *path)
{
    TEXT_AUTO command = { 0 };

    text_addf(&command, "rm -rf %s && mv %s.away %s", path, path, path);
    assert_int_equal(system(text_string(&command)), 0);
}

static void stores_nothing_in_files_that_were_moved_or_replaced(void **state)
{
    static const char *const names[] = {
        "", "/lock", "/opsbrain.db", "/scrapes.db", "/opsbrain.db-wal", "/scrapes.db-wal"
    };
    struct data_folder *data = *state;
    struct store *store = open_store(data);
    struct job_filter all = { .state = -1 };
    struct job *jobs;
    size_t count;

    for (size_t i = 0; i < 2 * sizeof names / sizeof *names; i++) {
        char path[FOLDER_SIZE + 32];

        snprintf(path, sizeof path, "%s%s", data->folder, names[i / 2]);
        assert_true(store_something(data, store));
        take_away(path, i % 2 == 1);
        assert_refused(data, store_something(data, store), ERROR_BUSY, path);
        assert_non_null(
            strstr(data->error.message, i % 2 == 1 ? "another file is there" : "no longer there"));
        assert_refused(data, store_check(store, &data->error), ERROR_BUSY,
                       "moved or deleted while the server was running");
        assert_false(store_intact(store));
        assert_ok(data, job_list(store, &all, 9, &jobs, &count, &data->error));
        free(jobs);
        put_back(path);
        assert_true(store_something(data, store));
        assert_ok(data, store_check(store, &data->error));
    }
    store_close(store);
}

/* The old server's folder was moved, and a new server uses a folder at the same path. */
static void closing_leaves_the_files_of_a_new_server_alone(void **state)
{
    struct data_folder *data = *state;
    struct store *old = open_store(data), *new;
    char wal[FOLDER_SIZE + 32], away[FOLDER_SIZE + 8], command[400];
    struct stat status;

    snprintf(away, sizeof away, "%s.old", data->folder);
    assert_int_equal(rename(data->folder, away), 0);
    new = open_store(data);
    assert_true(store_something(data, new));
    store_close(old);
    snprintf(wal, sizeof wal, "%s/opsbrain.db-wal", data->folder);
    assert_int_equal(stat(wal, &status), 0);
    assert_true(store_something(data, new));
    store_close(new);
    snprintf(command, sizeof command, "rm -rf %s", away);
    assert_int_equal(system(command), 0);
}

static void refuses_a_database_of_another_program(void **state)
{
    struct data_folder *data = *state;

    run_sql(data->file, "CREATE TABLE theirs (a)");
    assert_refused(data, opens(data), ERROR_CONFLICT, "another program's");
}

static void refuses_a_file_with_a_garbage_header(void **state)
{
    struct data_folder *data = *state;

    store_close(open_store(data));
    overwrite(data->file, 0, 100);
    assert_refused(data, opens(data), ERROR_INTERNAL, "corrupt");
    assert_non_null(strstr(data->error.message, "backup"));
}

static void refuses_a_file_with_garbage_in_the_middle(void **state)
{
    struct data_folder *data = *state;
    struct stat status;

    store_close(open_store(data));
    assert_int_equal(stat(data->file, &status), 0);
    overwrite(data->file, status.st_size / 2 / 4096 * 4096, 8192);
    assert_refused(data, opens(data), ERROR_INTERNAL, "corrupt");
    assert_non_null(strstr(data->error.message, "backup"));
}

static void refuses_a_database_that_another_program_has_locked(void **state)
{
    struct data_folder *data = *state;
    sqlite3 *db;

    store_close(open_store(data));
    assert_int_equal(sqlite3_open(data->file, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db, "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;", NULL, NULL, NULL),
        SQLITE_OK);
    assert_refused(data, opens(data), ERROR_BUSY, "locked by another program");
    sqlite3_close(db);
    assert_true(opens(data));
}

/* Starts a child that opens the store and keeps it open; returns once the store is open. */
static pid_t hold_in_child(struct data_folder *data)
{
    int ends[2];
    char byte;
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        struct store *store;

        if (!store_open(data->folder, "", 2, &store, &data->error) || write(ends[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    return child;
}

static void refuses_a_folder_in_use_until_its_holder_dies(void **state)
{
    struct data_folder *data = *state;
    pid_t child = hold_in_child(data);
    char process[40];

    snprintf(process, sizeof process, "(process %d)", (int)child);
    assert_refused(data, opens(data), ERROR_CONFLICT, "in use by another opsbrain");
    assert_non_null(strstr(data->error.message, process));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_true(opens(data));
}

/* ---- Killed at any moment: what was acknowledged is stored, and nothing is half stored ---- */

struct writer {
    pthread_t thread;
    struct ledger *ledger; /* each thread has its own, because threads must not share its `error` */
    struct deployment deployment;
    int acknowledged; /* the pipe to which the ids of stored sweeps are written */
};

static void *create_sweeps(void *context)
{
    struct writer *writer = context;
    struct sweep_row row;

    for (;;) {
        if (!ledger_sweep_with_key(writer->ledger, &writer->deployment, CELLS, 1, NULL, "", 10,
                                   &row)
            || write(writer->acknowledged, row.id, sizeof row.id) != sizeof row.id)
            _exit(1);
        sweep_row_finish(&row);
    }
}

static void write_until_killed(struct data_folder *data, int acknowledged)
{
    struct writer writers[WRITERS];
    struct store *store;

    if (!store_open(data->folder, "", 2, &store, &data->error))
        _exit(2);
    for (int i = 0; i < WRITERS; i++) {
        struct deployment wanted = { .name = "d", .url = "http://127.0.0.1:1" };

        writers[i].ledger = calloc(1, sizeof *writers[i].ledger);
        writers[i].ledger->store = store;
        writers[i].acknowledged = acknowledged;
        if (!deployment_find(store, "d", &writers[i].deployment, &data->error)
            && !deployment_add(store, &wanted, 1, NULL, &writers[i].deployment, &data->error))
            _exit(3);
        pthread_create(&writers[i].thread, NULL, create_sweeps, &writers[i]);
    }
    for (;;)
        pause();
}

static size_t read_acknowledged(int pipe_end, char (**ids)[ID_SIZE], size_t count)
{
    char id[ID_SIZE];

    while (read(pipe_end, id, sizeof id) == sizeof id) {
        *ids = realloc(*ids, (count + 1) * sizeof **ids);
        memcpy((*ids)[count++], id, sizeof id);
    }
    return count;
}

/* Kills a child that creates sweeps; if `working`, only after the child has stored one. Appends to
 * *ids the ids of the sweeps that the child acknowledged, and returns the new number of ids. */
static size_t kill_one(struct data_folder *data, struct generator *generator, bool working,
                       char (**ids)[ID_SIZE], size_t count)
{
    int ends[2], status;
    pid_t child;

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(fcntl(ends[1], F_SETPIPE_SZ, 1 << 20), 1 << 20);
    child = fork();
    if (child == 0)
        write_until_killed(data, ends[1]);
    close(ends[1]);
    if (working) /* waits until the child has opened the store and writes */
        assert_int_equal(poll(&(struct pollfd){ ends[0], POLLIN, 0 }, 1, PATIENCE_MS), 1);
    usleep((useconds_t)(20000 + generator_below(generator, 120000)));
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status));
    count = read_acknowledged(ends[0], ids, count);
    close(ends[0]);
    return count;
}

static void check_sweep(struct ledger *ledger, const char *id)
{
    struct sweep_row row;
    struct job job;

    assert_ok(ledger, sweep_find(ledger->store, id, &row, &ledger->error));
    assert_int_equal(row.cells_total, CELLS);
    assert_ok(ledger, job_find(ledger->store, row.job_id, &job, &ledger->error));
    assert_string_equal(job.subject, id);
    sweep_row_finish(&row);
}

static void kills_lose_nothing_that_was_acknowledged(void **state)
{
    struct data_folder *data = *state;
    struct generator generator;
    char(*ids)[ID_SIZE] = NULL;
    char verdict[200], cells[200], audits[200], sweeps[200], expected[200];
    size_t count = 0;
    int64_t sweeps_kept;
    struct ledger ledger = { 0 };
    struct audit_verdict audit;

    generator_init(&generator, 7);
    for (int i = 0; i < KILLS; i++)
        count = kill_one(data, &generator, i % 2 == 0, &ids, count);
    assert_in_range(count, 1, 1000000);
    ledger.store = open_store(data);
    for (size_t i = 0; i < count; i++)
        check_sweep(&ledger, ids[i]);
    assert_ok(&ledger, audit_verify(ledger.store, NULL, NULL, &audit, &ledger.error));
    assert_true(audit.intact);
    store_close(ledger.store);
    read_sql(data->file, "PRAGMA integrity_check", verdict);
    assert_string_equal(verdict, "ok");
    read_sql(data->file, "PRAGMA foreign_key_check", verdict);
    assert_string_equal(verdict, "");
    read_sql(data->file, "SELECT count(*) FROM sweeps", sweeps);
    read_sql(data->file, "SELECT count(*) FROM audit WHERE tool = 'sweep_start'", audits);
    read_sql(data->file, "SELECT count(*) FROM cells", cells);
    assert_string_equal(audits, sweeps);
    assert_true(text_to_integer(sweeps, 0, INT32_MAX, &sweeps_kept));
    snprintf(expected, sizeof expected, "%lld", CELLS * (long long)sweeps_kept);
    assert_string_equal(cells, expected);
    assert_in_range(sweeps_kept, count, count + KILLS * WRITERS);
    free(ids);
}

static void writes_are_refused_on_a_full_disk_and_nothing_is_lost(void **state)
{
    struct data_folder *data = *state;
    struct store *store = open_store(data);
    struct change change = ledger_change("alice", "x");
    struct rlimit before, small;
    struct audit_row *rows;
    char *arguments = calloc(1, 4000), verdict[200];
    size_t written = 0, count;

    memset(arguments, ' ', 3999);
    change.arguments = arguments;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 4 << 20; /* the schema alone takes about 0.5 MiB */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    while (written < 10000 && audit_log_add(store, &change, "ok", "", "", &data->error))
        written++;
    assert_in_range(written, 10, 9999);
    assert_int_equal(data->error.kind, ERROR_BUSY);
    assert_non_null(strstr(data->error.message, "is full"));
    assert_refused(data, audit_log_add(store, &change, "ok", "", "", &data->error), ERROR_BUSY,
                   "is full");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_ok(data, audit_log_add(store, &change, "ok", "", "", &data->error));
    assert_ok(data, audit_log_list(store, &(struct audit_filter){ 0 }, 20000, &rows, &count,
                                   &data->error));
    assert_int_equal(count, written + 1);
    audit_log_rows_free(rows, count);
    store_close(store);
    read_sql(data->file, "PRAGMA integrity_check", verdict);
    assert_string_equal(verdict, "ok");
    free(arguments);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(makes_a_private_folder_with_private_files),
        TEST(refuses_a_folder_that_cannot_be_made),
        TEST(refuses_a_newer_database_and_leaves_it_alone),
        TEST(keeps_the_runs_and_cells_of_version_6),
        TEST(binds_secrets_of_version_12_only_to_urls_set_by_an_admin_or_the_user_local),
        TEST(does_not_upgrade_a_file_with_broken_references),
        TEST(stores_nothing_in_files_that_were_moved_or_replaced),
        TEST(closing_leaves_the_files_of_a_new_server_alone),
        TEST(refuses_a_database_of_another_program),
        TEST(refuses_a_file_with_a_garbage_header),
        TEST(refuses_a_file_with_garbage_in_the_middle),
        TEST(refuses_a_database_that_another_program_has_locked),
        TEST(refuses_a_folder_in_use_until_its_holder_dies),
        TEST(kills_lose_nothing_that_was_acknowledged),
        TEST(writes_are_refused_on_a_full_disk_and_nothing_is_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
