/* SPDX-License-Identifier: Apache-2.0 */
/* Moving entire databases from SQLite files to the engine that the tests use (test_database.h), and
 * back. */
#include <signal.h>
#include <sys/wait.h>

#include "server/program/fleet_place.h"
#include "store/audit/audit_verify.h"
#include "store/copy/copy.h"
#include "store/copy/copy_target.h"
#include "tests/unit/support/backdoor.h"
#include "tests/unit/support/copy_route.h"
#include "tests/unit/support/every_row.h"
#include "tests/unit/support/ledger.h"

#define ROWS 40

static int set_up(void **state)
{
    struct copy_route *route = calloc(1, sizeof *route);

    copy_route_begin(route);
    *state = route;
    return 0;
}

static int tear_down(void **state)
{
    copy_route_end(*state);
    free(*state);
    return 0;
}

static bool move_there(struct copy_route *route)
{
    const struct copy_place from = copy_route_files(route->from), to = copy_route_middle(route);
    struct copy_report report;

    return copy_move(&from, &to, &report, &route->error);
}

static bool move_back(struct copy_route *route)
{
    const struct copy_place from = copy_route_middle(route), to = copy_route_files(route->to);
    struct copy_report report;

    return copy_move(&from, &to, &report, &route->error);
}

static void every_row_is_moved_there_and_back_but_only_into_an_empty_database(void **state)
{
    struct copy_route *route = *state;

    every_row_fill(route->from, ROWS);
    assert_ok(route, move_there(route));
    assert_refused(route, move_there(route), ERROR_CONFLICT, "not empty");
    assert_ok(route, move_back(route));
    every_row_compare(route->from, route->to);
}

static void a_database_is_moved_into_a_schema_whose_name_needs_quotes(void **state)
{
    struct copy_route *route = *state;
    const struct copy_place from = copy_route_files(route->from);
    unsigned long long digest = test_database_digest(route->middle);
    struct copy_report report;
    char place[1100], script[80];

    if (test_database_is_files() || test_database_is_pooled())
        skip();
    snprintf(place, sizeof place, "%s&options=-csearch_path%%3D%%22T.%016llx%%22",
             test_database(route->middle), digest);
    snprintf(script, sizeof script, "CREATE SCHEMA \"T.%016llx\"", digest);
    backdoor_run(route->middle, script);
    every_row_fill(route->from, 1);
    const struct copy_place to = { route->middle, place };
    bool moved = copy_move(&from, &to, &report, &route->error);
    snprintf(script, sizeof script, "DROP SCHEMA \"T.%016llx\" CASCADE", digest);
    backdoor_run(route->middle, script);
    assert_ok(route, moved);
}

static void a_negative_zero_arrives_as_zero(void **state)
{
    struct copy_route *route = *state;

    every_row_fill(route->from, 1);
    assert_ok(route, move_there(route));
    backdoor_run(route->middle, "UPDATE fleet_target_revisions SET deployment_usd = '-0'");
    assert_ok(route, move_back(route));
    every_row_compare(route->from, route->to);
}

/* ---- Interruptions ---- */

/* A sink that passes pages on to another sink until it kills the process. */
struct killer {
    const struct copy_sink *sink;
    int pages; /* how many it still passes on before it kills the process */
};

static bool receive_or_kill(void *context, size_t table, const struct text *rows,
                            struct error *error)
{
    struct killer *killer = context;

    if (!killer->sink->receive(killer->sink->context, table, rows, error))
        return false;
    if (--killer->pages == 0)
        raise(SIGKILL);
    return true;
}

/* Copies as copy_move does, but kills the process after `pages` pages. */
static bool copy_some(const struct copy_route *route, int pages, struct error *error)
{
    const struct copy_place from = copy_route_files(route->from), to = copy_route_middle(route);
    int64_t versions[COPY_SETS];
    struct copy_tables tables;
    struct copy_side source, side;
    struct copy_target target = { .side = &side, .tables = &tables };
    const struct copy_sink sink = copy_target_sink(&target);
    struct killer killer = { &sink, pages };
    const struct copy_sink killing = { .context = &killer, .receive = receive_or_kill };
    struct copy_tally tally;

    copy_side_versions(versions);
    if (!copy_tables_read(versions, &tables, error)
        || !copy_side_open_source(&from, true, &source, error)
        || !copy_side_open_target(&to, versions, &tables, source.name, &side, error))
        return false;
    for (size_t i = 0; i < tables.count; i++)
        if (!copy_table_read(source.readers[tables.list[i].set], true, &tables, i, &killing, &tally,
                             error)
            || !sink.finish(sink.context, i, &tally, error))
            return false;
    return true;
}

static void kill_copy_after(const struct copy_route *route, int pages)
{
    struct error error = { 0 };
    int status;
    pid_t child = fork();

    if (child == 0) {
        if (!copy_some(route, pages, &error))
            fprintf(stderr, "%s\n", error.message);
        _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGKILL);
}

static void a_killed_move_can_be_continued_and_an_unfinished_copy_is_not_opened(void **state)
{
    static const int pages[] = { 1, 30, 65 };
    struct copy_route *route = *state;
    struct store *store;

    every_row_fill(route->from, ROWS);
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        kill_copy_after(route, pages[i]);
        assert_refused(
            route,
            store_open(route->middle, test_database(route->middle), 1, &store, &route->error),
            ERROR_CONFLICT, "unfinished copy");
    }
    assert_refused(route, move_back(route), ERROR_CONFLICT, "unfinished copy");
    assert_ok(route, move_there(route));
    assert_ok(route, move_back(route));
    every_row_compare(route->from, route->to);
}

static void a_copy_continues_only_from_the_same_unchanged_source(void **state)
{
    struct copy_route *route = *state;
    const struct copy_place other = copy_route_files(route->to), to = copy_route_middle(route);
    struct copy_report report;
    char message[BACKDOOR_MESSAGE_SIZE];

    every_row_fill(route->from, 8);
    every_row_fill(route->to, 1);
    kill_copy_after(route, 40);
    assert_refused(route, copy_move(&other, &to, &report, &route->error), ERROR_CONFLICT,
                   route->from);
    assert_true(backdoor_file(route->from, "opsbrain.db",
                              "UPDATE deployment_revisions SET model = 'x' WHERE revision = 7",
                              message)
                == 1);
    assert_refused(route, move_there(route), ERROR_CONFLICT, "deployment_revisions");
}

/* A PostgreSQL database is held by one process at a time, and a hold expires unless it is renewed.
 * The comparison renews it, because comparing a large table can take longer than a hold lasts. */
static void a_source_stays_held_while_the_copy_is_compared(void **state)
{
    struct copy_route *route = *state;
    const struct copy_place from = copy_route_middle(route), to = copy_route_files(route->to);
    char message[BACKDOOR_MESSAGE_SIZE];
    int64_t versions[COPY_SETS], held;
    struct copy_tables tables;
    struct copy_side source, side;
    struct copy_target target = { .side = &side, .source = &source, .tables = &tables };
    const struct copy_sink sink = copy_target_sink(&target);
    struct copy_tally tally;

    if (test_database_is_files())
        skip();
    every_row_fill(route->from, 1);
    assert_ok(route, move_there(route));
    copy_side_versions(versions);
    assert_ok(route, copy_tables_read(versions, &tables, &route->error));
    assert_ok(route, copy_side_open_source(&from, true, &source, &route->error));
    assert_ok(route,
              copy_side_open_target(&to, versions, &tables, source.name, &side, &route->error));
    assert_ok(route, copy_table_read(source.readers[COPY_MAIN], true, &tables, 0, &sink, &tally,
                                     &route->error));
    backdoor_run(route->middle,
                 "UPDATE opsbrain_holder SET until = clock_timestamp() - interval '1 hour'");
    source.kept_ns = 0;
    assert_ok(route, sink.finish(sink.context, 0, &tally, &route->error));
    held = backdoor_try(route->middle,
                        "UPDATE opsbrain_holder SET batch = batch WHERE until > clock_timestamp()",
                        message);
    copy_side_close(&side);
    copy_side_close(&source);
    copy_tables_finish(&tables);
    assert_int_equal(held, COPY_SETS);
}

/* Adds a constraint whose check takes longer than statement_timeout. */
static void the_check_of_references_has_no_time_limit(void **state)
{
    struct copy_route *route = *state;
    const struct copy_place to = copy_route_middle(route);
    int64_t versions[COPY_SETS];
    struct copy_tables tables;
    struct copy_side side;
    struct copy_target target = { .side = &side, .tables = &tables };
    bool done;

    if (test_database_is_files())
        skip();
    copy_side_versions(versions);
    assert_ok(route, copy_tables_read(versions, &tables, &route->error));
    assert_ok(route, copy_side_open_target(&to, versions, &tables, "x", &side, &route->error));
    backdoor_run(route->middle, "INSERT INTO principals (id, name, role, created_ms) "
                                "VALUES (1, 'a', 'viewer', 0); "
                                "INSERT INTO opsbrain_references VALUES "
                                "('principals', 'slow', 'CHECK (pg_sleep(1) IS NOT NULL)')");
    for (int set = 0; set < COPY_SETS; set++)
        assert_ok(route, sql_connection_run(side.writers[set], "SET statement_timeout = '500ms'",
                                            &route->error));
    done = copy_target_end(&target, &route->error);
    copy_side_close(&side);
    copy_tables_finish(&tables);
    assert_ok(route, done);
}

/* ---- Refusals ---- */

static void a_source_in_use_is_refused(void **state)
{
    struct copy_route *route = *state;
    struct store *store;

    assert_ok(route, store_open(route->from, "", 1, &store, &route->error));
    assert_refused(route, move_there(route), ERROR_CONFLICT, "in use by another opsbrain");
    store_close(store);
}

static void a_source_that_is_missing_or_of_another_version_is_refused(void **state)
{
    struct copy_route *route = *state;
    char message[BACKDOOR_MESSAGE_SIZE];

    assert_refused(route, move_there(route), ERROR_NOT_FOUND, "not an opsbrain data folder");
    every_row_fill(route->from, 1);
    assert_true(backdoor_file(route->from, "opsbrain.db", "PRAGMA user_version = 3", message) >= 0);
    assert_refused(route, move_there(route), ERROR_CONFLICT, "opsbrain serve");
    assert_true(backdoor_file(route->from, "opsbrain.db", "PRAGMA user_version = 9999", message)
                >= 0);
    assert_refused(route, move_there(route), ERROR_CONFLICT, "newer opsbrain");
}

static void a_source_with_a_broken_reference_is_not_moved(void **state)
{
    struct copy_route *route = *state;
    char message[BACKDOOR_MESSAGE_SIZE];

    every_row_fill(route->from, 2);
    assert_true(
        backdoor_file(route->from, "opsbrain.db", "DELETE FROM principals WHERE id = 2", message)
        == 1);
    assert_false(move_there(route));
    assert_non_null(strstr(route->error.message, "api_keys"));
}

/* Earlier versions could store invalid UTF-8. SQLite accepts it, PostgreSQL does not. */
static void a_text_that_is_not_utf8_is_copied_unchanged_or_refused(void **state)
{
    struct copy_route *route = *state;
    char message[BACKDOOR_MESSAGE_SIZE];

    every_row_fill(route->from, 1);
    assert_true(backdoor_file(route->from, "opsbrain.db",
                              "INSERT INTO line_turns VALUES (CAST(x'61ff00' AS TEXT), 'x', 1)",
                              message)
                == 1);
    if (!test_database_is_files()) {
        assert_false(move_there(route));
        assert_non_null(strstr(route->error.message, "line_turns"));
        return;
    }
    assert_ok(route, move_there(route));
    every_row_compare(route->from, route->middle);
}

/* ---- Using a copy ---- */

static void open_copy(struct copy_route *route, struct ledger *out)
{
    *out = (struct ledger){ 0 };
    memcpy(out->folder, route->middle, sizeof out->folder);
    assert_ok(out,
              store_open(route->middle, test_database(route->middle), 4, &out->store, &out->error));
}

/* Fills the source files as a server would. */
static void fill_by_the_store(struct copy_route *route)
{
    struct ledger ledger = { 0 };
    struct deployment deployment;
    struct fleet_instance instance;
    struct sweep_row sweep;

    assert_ok(&ledger, store_open(route->from, "", 4, &ledger.store, &ledger.error));
    deployment = ledger_deployment(&ledger, "gemma");
    sweep = ledger_sweep(&ledger, &deployment, 3, 2, 1000);
    sweep_row_finish(&sweep);
    assert_ok(&ledger, fleet_place_read(ledger.store, route->from, &instance, &ledger.error));
    store_close(ledger.store);
}

/* Checks that the copy counts as moved until fleet_place_resume is called, even if the path of its
 * source is given as its place. */
static void resume_copy(const struct copy_route *route, struct ledger *copy)
{
    struct change change = ledger_change("local", "fleet resume");
    struct fleet_instance instance;

    assert_ok(copy, fleet_place_read(copy->store, route->from, &instance, &copy->error));
    assert_true(instance.moved);
    assert_ok(copy, fleet_place_resume(copy->store, &change, &copy->error));
    assert_ok(copy, fleet_place_read(copy->store, route->middle, &instance, &copy->error));
    assert_false(instance.moved);
}

static void a_copy_counts_as_moved_and_its_audit_log_continues(void **state)
{
    struct copy_route *route = *state;
    struct audit_verdict verdict;
    struct ledger copy;
    int64_t rows;

    fill_by_the_store(route);
    assert_ok(route, move_there(route));
    open_copy(route, &copy);
    assert_ok(&copy, audit_verify(copy.store, NULL, NULL, &verdict, &copy.error));
    assert_true(verdict.intact);
    rows = verdict.rows;
    assert_true(rows > 0);
    ledger_deployment(&copy, "llama");
    resume_copy(route, &copy);
    assert_ok(&copy, audit_verify(copy.store, NULL, NULL, &verdict, &copy.error));
    assert_true(verdict.intact);
    assert_int_equal(verdict.rows, rows + 2);
    store_close(copy.store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(every_row_is_moved_there_and_back_but_only_into_an_empty_database),
        TEST(a_database_is_moved_into_a_schema_whose_name_needs_quotes),
        TEST(a_negative_zero_arrives_as_zero),
        TEST(a_killed_move_can_be_continued_and_an_unfinished_copy_is_not_opened),
        TEST(a_copy_continues_only_from_the_same_unchanged_source),
        TEST(a_source_stays_held_while_the_copy_is_compared),
        TEST(the_check_of_references_has_no_time_limit),
        TEST(a_source_in_use_is_refused),
        TEST(a_source_that_is_missing_or_of_another_version_is_refused),
        TEST(a_source_with_a_broken_reference_is_not_moved),
        TEST(a_text_that_is_not_utf8_is_copied_unchanged_or_refused),
        TEST(a_copy_counts_as_moved_and_its_audit_log_continues),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
