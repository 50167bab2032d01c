/* SPDX-License-Identifier: Apache-2.0 */
/* What a program on this machine inherits, and which programs, requests and settings are
 * refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/core/memory.h"
#include "base/net/outbound.h"
#include "tests/clouds/machine_engine.h"

#define CANARY "canary-7f3a9c"

/* ---- A program's environment ---- */

static void a_program_inherits_no_variable_or_descriptor_from_opsbrain(void **state)
{
    struct machine_world *world = *state;
    int left_open = open("/proc/self/status", O_RDONLY); /* stays open across an exec */
    const char *text;

    setenv("OPSBRAIN_SECRET_HF", CANARY, 1);
    start_ready(world, "good");
    text = read_report(world);
    close(left_open);
    unsetenv("OPSBRAIN_SECRET_HF");
    assert_null(strstr(text, CANARY));
    assert_null(strstr(text, "OPSBRAIN"));
    assert_int_equal(count_lines(text, "env "), 6);
    assert_line(text, "env MODEL_MODE=tiny");
    assert_line(text, "env LANG=C.UTF-8");
    assert_int_equal(count_lines(text, "fd "), 3);
    assert_line(text, "fd 0");
    assert_line(text, "fd 1");
    assert_line(text, "fd 2");
    assert_line(text, "leads 1");
    assert_line(text, "status NoNewPrivs:\t1");
    destroy(world);
}

static void a_program_has_its_own_folder_and_under_root_its_own_account(void **state)
{
    struct machine_world *world = *state;
    const char *text;

    start_ready(world, "good");
    text = read_report(world);
    assert_non_null(strstr(text, "folder /tmp/machine."));
    if (geteuid() == 0) {
        assert_non_null(strstr(text, "\nuid 61184\ngid 61184\n"));
        assert_line(text, "status CapEff:\t0000000000000000");
        assert_line(text, "status Groups:\t ");
    }
    destroy(world);
}

static void a_program_gets_its_key_only_in_its_environment(void **state)
{
    struct machine_world *world = *state;
    json_auto_t *key = NULL;
    json_auto_t *shown = NULL;
    FREE_AUTO char *written = NULL;
    char line[128];
    const char *text, *value;

    start_ready(world, "good");
    assert_int_equal(machine_world_call(world, "GET", "/servers/gemma/key", NULL, &key), 200);
    assert_int_equal(machine_world_call(world, "GET", "/servers/gemma", NULL, &shown), 200);
    value = json_get_text(key, "key", "");
    assert_int_equal(strlen(value), 48);
    text = read_report(world);
    snprintf(line, sizeof line, "env ENGINE_API_KEY=%s", value);
    assert_line(text, line);
    assert_int_equal(count_lines(text, "argument "), 4);
    assert_null(strstr(strstr(text, value) + 1, value)); /* the key occurs only once */
    written = json_write(shown);
    assert_null(strstr(written, value));
    destroy(world);
}

/* ---- Refusals ---- */

static void assert_refused(struct machine_world *world, const char *program, const char *part)
{
    json_auto_t *body = server_body(world, "good");

    json_object_set_new(body, "program", json_string(program));
    if (machine_world_call(world, "PUT", "/servers/gemma?dry_run=true", body, NULL) < 400
        || machine_world_call(world, "PUT", "/servers/gemma", body, NULL) < 400)
        fail_msg("%s was not refused", program);
    machine_world_says(world, part);
    assert_int_equal(machine_world_call(world, "GET", "/servers/gemma", NULL, NULL), 404);
}

static void only_listed_programs_are_run(void **state)
{
    struct machine_world *world = *state;
    char link[128], open_file[128], folder[128];
    int file;

    snprintf(link, sizeof link, "%s/link", world->folder);
    snprintf(open_file, sizeof open_file, "%s/open", world->folder);
    snprintf(folder, sizeof folder, "%s/work", world->folder);
    assert_int_equal(symlink(world->program, link), 0);
    file = open(open_file, O_WRONLY | O_CREAT | O_CLOEXEC, 0777);
    assert_int_equal(fchmod(file, 0777), 0);
    close(file);
    assert_refused(world, "/bin/sh", "is not one of the programs");
    assert_refused(world, "sh", "is not an absolute path");
    assert_refused(world, "./sh", "is not an absolute path");
    assert_refused(world, "", "is not an absolute path");
    assert_refused(world, link, "is not one of the programs");
    snprintf(world->programs, sizeof world->programs, "%s, %s,%s ,/no/such/program", link,
             open_file, folder);
    machine_world_open(world);
    assert_refused(world, link, "is reached through a symbolic link");
    assert_refused(world, open_file, "everybody can write to");
    assert_refused(world, folder, "is not an executable program");
    assert_refused(world, "/no/such/program", "cannot be found");
    assert_refused(world, world->program, "is not one of the programs");
    world->programs[0] = '\0';
    machine_world_open(world);
    assert_refused(world, world->program, "is not one of the programs");
}

static void a_request_with_a_wrong_member_or_path_is_refused(void **state)
{
    static const struct {
        const char *member, *value, *part;
    } cases[] = {
        { "arguments", "\"-c id\"", "\"arguments\" must be a list of strings" },
        { "arguments", "[1]", "\"arguments\" must be a list of strings" },
        { "environment", "{\"A\": 1}",
          "\"environment\" must be an object whose values are strings" },
        { "image", "\"x\"", "exactly one of \"program\", \"image\" and \"service\"" },
        { "models", "{\"folder\": \"/etc\"}", "is not in /tmp/machine." },
        { "models", "{\"folder\": \"/no/such/folder\"}", "/no/such/folder" },
        { "port", "0", "port 0" },
    };
    static const char *const names[] = { "..", "a/b", "Gemma", "-a", "a-", "%2e%2e", "a.b" };
    struct machine_world *world = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_auto_t *body = server_body(world, "good");

        json_object_set_new(body, cases[i].member,
                            json_loads(cases[i].value, JSON_DECODE_ANY, NULL));
        assert_true(machine_world_call(world, "PUT", "/servers/gemma", body, NULL) >= 400);
        machine_world_says(world, cases[i].part);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        json_auto_t *body = server_body(world, "good");
        char path[64];

        snprintf(path, sizeof path, "/servers/%s", names[i]);
        assert_int_equal(machine_world_call(world, "PUT", path, body, NULL), 400);
    }
    assert_int_equal(machine_world_call(world, "POST", "/servers/gemma/exec", NULL, NULL), 400);
}

static void a_port_in_use_is_refused(void **state)
{
    struct machine_world *world = *state;
    json_auto_t *body = NULL;

    start_ready(world, "good");
    body = server_body(world, "good");
    json_object_set_new(body, "port",
                        json_integer(atoi(strstr(read_report(world), "argument engine\nargument ")
                                          + strlen("argument engine\nargument "))));
    assert_int_equal(machine_world_call(world, "PUT", "/servers/other", body, NULL), 409);
    machine_world_says(world, "is in use");
    destroy(world);
}

static void servers_on_this_machine_are_refused_on_cloud_run_and_in_pods(void **state)
{
    static const char *const variables[] = { "K_SERVICE", "CLOUD_RUN_JOB",
                                             "KUBERNETES_SERVICE_HOST" };
    struct error error;

    (void)state;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        setenv(variables[i], "x", 1);
        assert_false(machine_check_place(&error));
        assert_non_null(strstr(error.message, variables[i]));
        unsetenv(variables[i]);
    }
    assert_true(machine_check_place(&error));
}

#define SOMEBODY 65534

/* If this process runs as root, gives the folders of `world` to a different user, and makes the
 * process run as that user. */
static void become_somebody(const struct machine_world *world)
{
    if (geteuid() != 0)
        return;
    assert_int_equal(chown(world->folder, SOMEBODY, SOMEBODY), 0);
    assert_int_equal(chown(world->records, SOMEBODY, SOMEBODY), 0);
    assert_int_equal(chown(world->work, SOMEBODY, SOMEBODY), 0);
    assert_int_equal(setresgid(SOMEBODY, SOMEBODY, 0), 0);
    assert_int_equal(setresuid(SOMEBODY, SOMEBODY, 0), 0);
}

static void become_root_again(void)
{
    if (getuid() == SOMEBODY) {
        assert_int_equal(setresuid(0, 0, 0), 0);
        assert_int_equal(setresgid(0, 0, 0), 0);
    }
}

static const char *fix_of(const json_t *body, const char *need)
{
    const json_t *finding;
    size_t i;

    json_array_foreach(json_object_get(body, "findings"), i, finding)
        if (strcmp(json_get_text(finding, "need", ""), need) == 0)
            return json_get_text(finding, "fix", "");
    return "the need is not listed";
}

/* Only root can give a program its own account. Without root, opsbrain reports this, and still
 * starts the program. */
static void without_root_a_program_has_opsbrains_account(void **state)
{
    static const char need[] = "programs run under accounts of their own";
    struct machine_world *world = *state;
    json_auto_t *before = NULL, *found = NULL;
    char uid[32];

    assert_int_equal(machine_world_call(world, "GET", "/check", NULL, &before), 200);
    if (geteuid() == 0)
        assert_string_equal(fix_of(before, need), "");
    become_somebody(world);
    snprintf(uid, sizeof uid, "uid %d", (int)geteuid());
    assert_int_equal(machine_world_call(world, "GET", "/check", NULL, &found), 200);
    start_ready(world, "good");
    assert_line(read_report(world), uid);
    assert_non_null(strstr(read_report(world), "status NoNewPrivs:\t1"));
    destroy(world);
    become_root_again();
    assert_non_null(strstr(fix_of(found, need), "run opsbrain as root"));
}

static bool is_documented(const char *row)
{
    FILE *file = fopen(SOURCE_DIR "/docs/clouds.md", "r");
    char line[512];
    bool found = false;

    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL)
        found = found || strcmp(line, row) == 0;
    fclose(file);
    return found;
}

/* A server whose setting is missing is refused. docs/clouds.md must list the setting, too. */
static void each_kind_of_server_needs_its_setting(void **state)
{
    static const struct {
        const char *kind, *setting, *member;
    } rows[] = {
        { "program", "this_machine_programs", "\"program\":\"/bin/true\"" },
        { "container", "this_machine_containers",
          "\"image\":\"a@sha256:"
          "1111111111111111111111111111111111111111111111111111111111111111\"" },
        { "service", "this_machine_ollama", "\"service\":\"ollama\"" },
        { "models", "this_machine_models",
          "\"program\":\"/bin/true\",\"models\":{\"folder\":\"/models\"}" },
    };
    struct machine_world *world = *state;
    const struct machine_settings nothing = { .folder = world->records,
                                              .work = "",
                                              .programs = "",
                                              .models = "",
                                              .containers = "",
                                              .ollama = "",
                                              .watchdog = world->program };

    machine_destroy(world->machine);
    assert_true(machine_create(&nothing, &world->machine, &world->error));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        TEXT_AUTO text = { 0 };
        TEXT_AUTO row = { 0 };
        json_auto_t *body = NULL;

        text_addf(&text, "{%s,\"port\":%d}", rows[i].member, free_port());
        text_addf(&row, "| %s | `%s` |\n", rows[i].kind, rows[i].setting);
        body = json_loads(text_string(&text), 0, NULL);
        assert_int_equal(machine_world_call(world, "PUT", "/servers/gemma", body, NULL), 403);
        machine_world_says(world, rows[i].setting);
        assert_true(is_documented(text_string(&row)));
    }
}

static void wrong_settings_are_refused(void **state)
{
    static const struct machine_settings cases[] = {
        { "", "", "bin/sh", "", "", "", "" },
        { "", "", "/bin/true,sh", "", "", "", "" },
        { "", "", "", "models", "", "", "" },
        { "", "", "", "", "podman.sock", "", "" },
        { "", "", "", "", "", "http://10.0.0.1:11434", "" },
        { "", "", "", "", "", "file:///etc/passwd", "" },
    };
    struct machine *machine;
    struct error error;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (machine_create(&cases[i], &machine, &error))
            fail_msg("case %zu (counted from 0) was accepted", i);
}

int main(int argc, char **argv)
{
    struct error error;
    int status;

    if (machine_engine_main(argc, argv, &status))
        return status;
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_program_inherits_no_variable_or_descriptor_from_opsbrain),
        TEST(a_program_has_its_own_folder_and_under_root_its_own_account),
        TEST(a_program_gets_its_key_only_in_its_environment),
        TEST(only_listed_programs_are_run),
        TEST(a_request_with_a_wrong_member_or_path_is_refused),
        TEST(a_port_in_use_is_refused),
        TEST(without_root_a_program_has_opsbrains_account),
        TEST(each_kind_of_server_needs_its_setting),
        cmocka_unit_test(servers_on_this_machine_are_refused_on_cloud_run_and_in_pods),
        cmocka_unit_test(wrong_settings_are_refused),
    };
#undef TEST

    if (!outbound_global_init(&error))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
