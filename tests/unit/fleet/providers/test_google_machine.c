/* SPDX-License-Identifier: Apache-2.0 */
/* The script that starts a server on a Google machine: what it runs and prints, and that it
 * contains no secret. Bash runs it with stand-ins for curl, docker, iptables and nvidia-smi. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/wait.h>

#include "fleet/providers/google_machine.h"
#include "fleet/recipes/recipe_book.h"
#include "tests/clouds/compute_world.h"
#include "tests/unit/support/folder.h"

/* The stand-in for curl answers like three servers: the metadata server, Secret Manager (which has
 * a key once one was written), and a model server that is healthy from the third request on. */
static const char curl[] =
    "#!/bin/bash\n"
    "for word; do case $word in\n"
    "    @/dev/fd/*) header=$(cat \"${word#@}\") ;;\n"
    "    http*) url=$word ;;\n"
    "esac; done\n"
    "echo \"curl $*\" >>argv\n"
    "case $url in\n"
    "    */guest-attributes/opsbrain/phase) [ \"$3\" = PUT ] && echo \"$5\" >>phases ;;\n"
    "    */guest-attributes/opsbrain/line) [ \"$3\" = PUT ] && echo \"$5\" >>lines ;;\n"
    "    */token) echo '{\"access_token\": \"canary-token\", \"expires_in\": 3000}' ;;\n"
    "    *:addVersion) [ \"$header\" = 'Authorization: Bearer canary-token' ] && cat >key ;;\n"
    "    */secrets/hf-token/*) echo '{\"payload\": {\"data\": \"Y2FuYXJ5LWh1Yg==\"}}' ;;\n"
    "    */secrets/ob-*-key/*) [ -e key ] && cat key || exit 22 ;;\n"
    "    http://127.0.0.1:8080/health) echo x >>polls; [ \"$(wc -l <polls)\" -gt 2 ] || exit 7 ;;\n"
    "    *) exit 6 ;;\n"
    "esac\n";
static const char docker[] = "#!/bin/bash\n"
                             "case $1 in\n"
                             "    run) printf '%s\\n' \"$@\" >run; env >environment ;;\n"
                             "    inspect) cat state ;;\n"
                             "    logs) echo 'Capturing CUDA graphs' ;;\n"
                             "esac\n"
                             "echo \"docker $*\" >>argv\n";

static void write_file(const char *name, const char *text, mode_t mode)
{
    FILE *file = fopen(name, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    chmod(name, mode);
}

static char *read_file(const char *name)
{
    struct text out = { 0 };
    FILE *file = fopen(name, "r");
    int c;

    while (file != NULL && (c = fgetc(file)) != EOF)
        text_add_bytes(&out, (const char[]){ (char)c }, 1);
    if (file != NULL)
        fclose(file);
    return text_take(&out);
}

static void make_script(const struct google_world *world, const struct recipe *recipe,
                        struct text *out)
{
    struct desired desired = world->life.desired;
    struct google_machine machine;

    desired.recipe = recipe;
    google_machine_name(&desired, "projects/p/zones/us-central1-a/instances/gemma", &machine);
    google_machine_script(&desired, &machine, out);
}

static char folder[FOLDER_SIZE];

/* Removes the previous folder, and enters a new one that contains only the stand-ins and the
 * container's state. */
static void enter_folder(void)
{
    if (folder[0] != '\0')
        folder_remove(folder);
    folder_create(folder);
    assert_int_equal(chdir(folder), 0);
    write_file("curl", curl, 0700);
    write_file("docker", docker, 0700);
    write_file("iptables", "#!/bin/bash\necho \"iptables $*\" >>argv\n", 0700);
    write_file("nvidia-smi", "#!/bin/sh\n", 0700);
    write_file("state", "running\n", 0600);
}

static int remove_last_folder(void **state)
{
    (void)state;
    folder_remove(folder);
    return 0;
}

/* Runs the script without its pauses, and writes its output to the file `output`. Returns the exit
 * status. */
static int run_script(const char *script)
{
    const char *pause = strstr(script, "pause=10\n");
    TEXT_AUTO quick = { 0 };

    assert_non_null(pause);
    text_add_bytes(&quick, script, (size_t)(pause - script));
    text_addf(&quick, "pause=0%s", pause + strlen("pause=10"));
    write_file("script", text_string(&quick), 0600);
    return WEXITSTATUS(system("PATH=$PWD:$PATH timeout 20 bash script >output 2>&1"));
}

static void assert_file(const char *name, const char *text)
{
    FREE_AUTO char *found = read_file(name);

    assert_string_equal(found, text);
}

static void test_the_server_is_started_with_its_secrets(void **state)
{
    struct google_world *world = *state;
    FREE_AUTO char *environment = NULL;
    FREE_AUTO char *argv = NULL;
    FREE_AUTO char *output = NULL;
    TEXT_AUTO script = { 0 };

    enter_folder();
    make_script(world, &world->recipe, &script);
    assert_int_equal(run_script(text_string(&script)), 0);
    assert_file("phases", "image\nweights\ncompile\ncompile\nready\n");
    assert_file("run",
                "run\n-d\n--name\nopsbrain-server\n--restart\non-failure:3\n--log-opt\n"
                "max-size=50m\n--gpus\nall\n-p\n8080:8080\n--shm-size\n16g\n-e\nHF_TOKEN\n-e\n"
                "HF_HUB_OFFLINE=0\n-e\nVLLM_API_KEY\n--entrypoint\nvllm\n"
                "vllm/vllm-openai@sha256:0123456789abcdef0123456789abcdef\nserve\n"
                "google/gemma-4-12B-it\n--port\n8080\n--max-model-len\n16384\n"
                "--speculative-config\n{\"method\":\"it's\"}\n");
    environment = read_file("environment");
    assert_non_null(strstr(environment, "HF_TOKEN=canary-hub\n"));
    assert_non_null(strstr(environment, "VLLM_API_KEY="));
    assert_int_equal(strcspn(strstr(environment, "VLLM_API_KEY=") + 13, "\n"), 64);
    argv = read_file("argv");     /* everybody on the machine can see this */
    output = read_file("output"); /* this goes to the serial port */
    assert_null(strstr(argv, "canary"));
    assert_non_null(strstr(argv, "iptables -I DOCKER-USER -d 169.254.169.254 -p tcp --dport 80"));
    assert_true(strstr(argv, "iptables -I DOCKER-USER -d 169.254.169.254 -p tcp --dport 80")
                < strstr(argv, "docker run"));
    assert_null(strstr(output, "canary"));
    assert_null(strstr(text_string(&script), "canary"));
    assert_non_null(strstr(output, "opsbrain: Capturing CUDA graphs"));
}

static void test_a_restart_keeps_the_key(void **state)
{
    struct google_world *world = *state;
    TEXT_AUTO script = { 0 };
    FREE_AUTO char *before = NULL;

    enter_folder();
    make_script(world, &world->recipe, &script);
    assert_int_equal(run_script(text_string(&script)), 0);
    before = read_file("key");
    assert_int_equal(run_script(text_string(&script)), 0);
    assert_file("key", before);
}

static void test_a_server_that_ends_is_reported_as_failed(void **state)
{
    struct google_world *world = *state;
    TEXT_AUTO script = { 0 };

    enter_folder();
    write_file("state", "exited\n", 0600);
    make_script(world, &world->recipe, &script);
    assert_int_equal(run_script(text_string(&script)), 1);
    assert_file("phases", "image\nweights\nfailed\n");
    assert_file("lines", "Capturing CUDA graphs\nthe server ended\n");
}

/* No string in a recipe is run as a command. */
static void test_the_strings_of_a_recipe_are_quoted(void **state)
{
    static const char *const members[] = { "command", "arguments", "probes", "image" };
    static const char *const values[] = {
        "[\"vllm\",\"x';touch${IFS}bad;'\",\"$(touch${IFS}bad)\",\"`touch${IFS}bad`\"]",
        "{\"--port\":8080,\"--name\":\"a'; touch bad; '\"}",
        "{\"startup\":{\"path\":\"/health';touch${IFS}bad;'\",\"period_s\":10,\"failures\":3}}",
        "\"x';touch${IFS}bad;'-docker.pkg.dev/y\"",
    };
    struct google_world *world = *state;

    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        json_auto_t *document = json_deep_copy(world->recipe.document);
        struct recipe recipe = { 0 };
        struct error error;
        TEXT_AUTO script = { 0 };

        json_object_set_new(document, members[i], json_loads(values[i], JSON_DECODE_ANY, NULL));
        if (!recipe_read(document, &recipe, &error))
            fail_msg("%s: %s", members[i], error.message);
        enter_folder();
        if (strcmp(members[i], "probes") == 0) /* otherwise the script would wait forever */
            write_file("state", "exited\n", 0600);
        make_script(world, &recipe, &script);
        run_script(text_string(&script));
        assert_int_not_equal(access("bad", F_OK), 0);
        recipe_finish(&recipe);
    }
}

/* Checks that the script contains the image, each variable and each word of the command, in
 * quotes. */
static void check_words(const struct recipe *recipe, const char *script)
{
    json_auto_t *argv = recipe_argv(recipe, "gemma");
    const json_t *variables = recipe_member(recipe, "environment"), *value;
    const char *name;
    size_t i;

    json_array_append_new(argv, json_string(recipe->image));
    json_object_foreach(json_iterable(variables), name, value)
        json_array_append_new(argv, json_is_string(value)
                                        ? json_sprintf("%s=%s", name, json_string_value(value))
                                        : json_string(name));
    json_array_foreach(argv, i, value) {
        TEXT_AUTO word = { 0 };

        text_addf(&word, " '%s'", json_string_value(value));
        if (strstr(script, text_string(&word)) == NULL)
            fail_msg("%s: the script lacks%s", recipe->name, text_string(&word));
    }
}

static void test_each_compute_engine_recipe_has_a_complete_script_that_bash_can_parse(void **state)
{
    struct google_world *world = *state;
    struct recipe_book *book;
    const struct recipe *recipes;
    struct error error;
    size_t count, checked = 0;

    enter_folder();
    assert_true(recipe_book_create("", &book, &error));
    recipes = recipe_book_all(book, &count);
    for (size_t i = 0; i < count; i++) {
        TEXT_AUTO script = { 0 };

        if (strcmp(recipes[i].provider, "compute_engine") != 0)
            continue;
        make_script(world, &recipes[i], &script);
        write_file("script", text_string(&script), 0600);
        assert_int_equal(system("bash -n script"), 0);
        check_words(&recipes[i], text_string(&script));
        assert_true((strstr(script.data, "--privileged --network host") != NULL)
                    == (strstr(recipes[i].hardware, "tpu") != NULL));
        checked++;
    }
    assert_true(checked >= 15);
    recipe_book_destroy(book);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIVE(test_the_server_is_started_with_its_secrets),
        LIVE(test_a_restart_keeps_the_key),
        LIVE(test_a_server_that_ends_is_reported_as_failed),
        LIVE(test_the_strings_of_a_recipe_are_quoted),
        LIVE(test_each_compute_engine_recipe_has_a_complete_script_that_bash_can_parse),
    };
    struct error error;

    if (system("python3 -c '' 2>/dev/null") != 0) {
        puts("skipped: the script needs python3");
        return 0;
    }
    if (!outbound_global_init(&error))
        return 1;
    return cmocka_run_group_tests(tests, NULL, remove_last_folder);
}
