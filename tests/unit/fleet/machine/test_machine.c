/* SPDX-License-Identifier: Apache-2.0 */
/* How servers on this machine run and end. The tests start real watchdogs: each is the parent
 * process of one server, and ends that server when its time is up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/core/memory.h"
#include "base/net/outbound.h"
#include "tests/clouds/machine_engine.h"

/* ---- From start to end ---- */

static void a_server_is_found_again_by_another_opsbrain(void **state)
{
    struct machine_world *world = *state;
    struct machine_process process;

    start_ready(world, "good");
    process = process_of(world);
    machine_world_open(world); /* replaces the first opsbrain with a new one */
    machine_world_expect(world, "gemma", "ready");
    assert_true(machine_process_lives(&process));
    destroy(world);
    assert_false(machine_process_lives(&process));
}

static void a_server_ends_on_time_without_opsbrain(void **state)
{
    struct machine_world *world = *state;
    json_auto_t *sooner = json_pack("{s:I}", "ends_ms", (json_int_t)(clock_utc_ms() + 1000));
    struct machine_process process;
    char path[160];

    start_ready(world, "good");
    process = process_of(world);
    assert_int_equal(machine_world_call(world, "PATCH", "/servers/gemma", sooner, NULL), 200);
    machine_destroy(world->machine);
    world->machine = NULL;
    wait_dead(&process);
    machine_world_open(world);
    machine_world_expect(world, "gemma", "absent");
    snprintf(path, sizeof path, "%s/gemma", world->records);
    /* the watchdog removes the record first, then the folder */
    for (int i = 0; i < 250 && access(path, F_OK) == 0; i++)
        usleep(20000);
    assert_int_not_equal(access(path, F_OK), 0);
}

static void an_extension_reaches_the_watchdog(void **state)
{
    struct machine_world *world = *state;
    json_auto_t *body = server_body(world, "good");
    json_auto_t *later = json_pack("{s:I}", "ends_ms", (json_int_t)(clock_utc_ms() + 600000));
    struct machine_process process;

    json_object_set_new(body, "ends_ms", json_integer(clock_utc_ms() + 2000));
    assert_int_equal(machine_world_call(world, "PUT", "/servers/gemma", body, NULL), 201);
    machine_world_expect(world, "gemma", "ready");
    assert_int_equal(machine_world_call(world, "PATCH", "/servers/gemma", later, NULL), 200);
    process = process_of(world);
    usleep(2500000); /* until the original end has passed */
    assert_true(machine_process_lives(&process));
    destroy(world);
}

static void a_server_stopped_at_its_end_can_be_started_again(void **state)
{
    struct machine_world *world = *state;
    json_auto_t *sooner =
        json_pack("{s:I, s:b}", "ends_ms", (json_int_t)(clock_utc_ms() + 300), "end_destroys", 0);
    json_auto_t *later = json_pack("{s:I, s:b}", "ends_ms", (json_int_t)(clock_utc_ms() + 600000),
                                   "end_destroys", 1);

    start_ready(world, "good");
    assert_int_equal(machine_world_call(world, "PATCH", "/servers/gemma", sooner, NULL), 200);
    machine_world_expect(world, "gemma", "stopped");
    assert_int_equal(machine_world_call(world, "POST", "/servers/gemma/start", later, NULL), 202);
    machine_world_expect(world, "gemma", "ready");
    assert_int_equal(machine_world_call(world, "POST", "/servers/gemma/stop", NULL, NULL), 200);
    machine_world_expect(world, "gemma", "stopped");
    destroy(world);
}

static void a_program_ends_when_its_watchdog_is_killed(void **state)
{
    struct machine_world *world = *state;
    json_auto_t *shown = NULL;
    struct machine_process process;

    start_ready(world, "good");
    process = process_of(world);
    assert_int_equal(kill(watchdog_of(world), SIGKILL), 0);
    wait_dead(&process);
    shown = machine_world_wait(world, "gemma", "failed");
    assert_non_null(strstr(json_get_text(shown, "message", ""), "its watchdog was ended"));
    destroy(world);
}

static struct machine_process child_of(const struct machine_world *world)
{
    json_auto_t *record = NULL;
    struct machine_process child;
    struct error error;
    char path[PATH_MAX], folder[PATH_MAX];
    int pid = 0;
    FILE *file;

    machine_record_path(world->records, "gemma", folder);
    assert_true(machine_record_read(folder, MACHINE_RECORD, &record, &error));
    snprintf(path, sizeof path, "%s/child",
             json_get_text(json_object_get(record, "host"), "work", ""));
    file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%d", &pid), 1);
    fclose(file);
    assert_true(machine_process_find(pid, &child));
    assert_true(machine_process_lives(&child));
    return child;
}

static void the_children_of_a_program_end_with_it(void **state)
{
    struct machine_world *world = *state;
    struct machine_process child;

    start_ready(world, "parent");
    child = child_of(world);
    destroy(world);
    assert_false(machine_process_lives(&child));
}

/* When the watchdog is killed, its program ends too, but the program's children keep running. */
static void destroying_a_server_ends_the_children_that_a_killed_watchdog_left(void **state)
{
    struct machine_world *world = *state;
    struct machine_process process, child;

    start_ready(world, "parent");
    process = process_of(world);
    child = child_of(world);
    assert_int_equal(kill(watchdog_of(world), SIGKILL), 0);
    wait_dead(&process);
    assert_true(machine_process_lives(&child));
    destroy(world);
    assert_false(machine_process_lives(&child));
}

/* ---- Other processes ---- */

static pid_t start_innocent(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        setsid();
        for (;;)
            pause();
    }
    return pid;
}

static void a_process_that_reuses_the_pid_is_not_touched(void **state)
{
    struct machine_world *world = *state;
    pid_t innocent = start_innocent();
    json_auto_t *status = NULL;
    struct machine_process process;
    char folder[PATH_MAX];

    start_ready(world, "good");
    process = process_of(world);
    assert_int_equal(kill(watchdog_of(world), SIGKILL), 0);
    wait_dead(&process);
    process.pid = innocent; /* as if the innocent process had been given the dead program's pid */
    machine_record_path(world->records, "gemma", folder);
    assert_true(machine_record_read(folder, MACHINE_STATUS, &status, &world->error));
    json_object_set_new(status, "process", machine_process_write(&process));
    assert_true(machine_record_write(folder, MACHINE_STATUS, status, &world->error));
    destroy(world);
    assert_int_equal(waitpid(innocent, NULL, WNOHANG), 0);

    assert_true(machine_process_find(innocent, &process));
    assert_true(machine_process_lives(&process));
    process.boot[0] ^= 1; /* as if the record were from before the machine's last boot */
    machine_process_end(&process, 0);
    assert_int_equal(waitpid(innocent, NULL, WNOHANG), 0);
    process.boot[0] ^= 1;
    machine_process_end(&process, 0);
    assert_int_equal(waitpid(innocent, NULL, WNOHANG), -1); /* it was killed and reaped */
}

/* Starts a process with an empty HOME, and waits until it runs /bin/sleep. The exec closes the
 * child's end of the pipe. */
static pid_t start_with_empty_home(void)
{
    char name[] = "sleep", seconds[] = "60", home[] = "HOME=", byte;
    char *const words[] = { name, seconds, NULL }, *const variables[] = { home, NULL };
    int ends[2];
    pid_t pid;

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid = fork();
    if (pid == 0) {
        execve("/bin/sleep", words, variables);
        _exit(1);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 0);
    close(ends[0]);
    return pid;
}

/* opsbrain finds the descendants of a dead program by their HOME. An empty HOME matches none. */
static void no_process_is_killed_for_an_empty_home(void **state)
{
    pid_t innocent = start_with_empty_home();
    struct machine_process process;

    (void)state;
    assert_true(machine_process_find(innocent, &process));
    machine_process_end_remains(&process, "");
    assert_int_equal(waitpid(innocent, NULL, WNOHANG), 0);
    machine_process_end(&process, 0);
}

/* ---- Failures ---- */

static void the_message_about_a_failed_program_has_the_last_line_of_its_output(void **state)
{
    struct machine_world *world = *state;
    json_auto_t *shown = NULL;

    must_start(world, "broken");
    shown = machine_world_wait(world, "gemma", "failed");
    assert_non_null(
        strstr(json_get_text(shown, "message", ""), "ended with status 3: the engine is broken"));
    destroy(world);
}

static void a_server_that_other_machines_can_reach_fails(void **state)
{
    struct machine_world *world = *state;
    json_auto_t *shown = NULL;

    must_start(world, "exposed");
    shown = machine_world_wait(world, "gemma", "failed");
    assert_non_null(strstr(json_get_text(shown, "message", ""), "must listen on 127.0.0.1"));
    destroy(world);
}

static void a_second_server_of_the_same_name_is_refused(void **state)
{
    struct machine_world *world = *state;
    json_auto_t *body = NULL;

    start_ready(world, "good");
    body = server_body(world, "good");
    assert_int_equal(machine_world_call(world, "PUT", "/servers/gemma", body, NULL), 409);
    machine_world_expect(world, "gemma", "ready");
    destroy(world);
}

static void a_deletion_with_a_wrong_id_is_refused(void **state)
{
    struct machine_world *world = *state;

    start_ready(world, "good");
    assert_int_equal(machine_world_call(world, "DELETE", "/servers/gemma?id=pln_2", NULL, NULL),
                     409);
    machine_world_expect(world, "gemma", "ready");
    destroy(world);
    assert_int_equal(machine_world_call(world, "DELETE", "/servers/gemma", NULL, NULL), 404);
}

int main(int argc, char **argv)
{
    struct error error;
    int status;

    if (machine_engine_main(argc, argv, &status))
        return status;
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_server_is_found_again_by_another_opsbrain),
        TEST(a_server_ends_on_time_without_opsbrain),
        TEST(an_extension_reaches_the_watchdog),
        TEST(a_server_stopped_at_its_end_can_be_started_again),
        TEST(a_program_ends_when_its_watchdog_is_killed),
        TEST(the_children_of_a_program_end_with_it),
        TEST(destroying_a_server_ends_the_children_that_a_killed_watchdog_left),
        TEST(a_process_that_reuses_the_pid_is_not_touched),
        TEST(no_process_is_killed_for_an_empty_home),
        TEST(the_message_about_a_failed_program_has_the_last_line_of_its_output),
        TEST(a_server_that_other_machines_can_reach_fails),
        TEST(a_second_server_of_the_same_name_is_refused),
        TEST(a_deletion_with_a_wrong_id_is_refused),
    };
#undef TEST

    if (!outbound_global_init(&error))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
