/* SPDX-License-Identifier: Apache-2.0 */
#include "client/command/client_bench.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json/json.h"
#include "client/command/client_commands.h"
#include "client/command/person.h"
#include "client/command/tool_flags.h"
#include "client/command/wording.h"
#include "client/terminal/display_width.h"
#include "client/terminal/readable.h"

static const struct tool_word word = { "bench", "sweep_plan", "[deployment]" };

#define DEFAULT_S "10"

/* Names that people use for some of the tool's parameters. */
static const struct flag_alias aliases[] = {
    { "users", "concurrency" },
    { "context", "input_tokens" },
    { "output_length", "output_tokens" },
    { "window", "window_s" },
    { 0 },
};

static const char help[] =
    "  opsbrain bench DEPLOYMENT|URL [--users 1,4,16] [--context 128,1024] [--FLAG VALUE]...\n"
    "  opsbrain bench SWEEP\n"
    "      Benchmarks a registered deployment, or the model server at a URL, and shows each cell "
    "as it is measured. Before that it shows the plan and asks whether to start; at the end it "
    "shows where the server saturates. Without --users it adds users until throughput no longer "
    "grows. Ctrl-C does not cancel the sweep; it prints the command that shows the sweep again.\n"
    "      For a URL, no opsbrain server needs to be running: one is started on the data folder, "
    "which is --data or $XDG_DATA_HOME/opsbrain. If a server has this folder open, that server is "
    "used instead. Without --data, the server that OPSBRAIN_URL names, or one that runs "
    "at " LOGIN_URL_USUAL ", takes precedence. The report is written to a file.\n\n"
    "  --yes\n"
    "      starts without asking\n"
    "  --output FILE\n"
    "      writes the report to this file; for a URL, a report is written even without this flag\n"
    "  --data FOLDER\n"
    "      the data folder, where the results are stored; if no server has it open, one is "
    "started\n"
    "  --plan-digest DIGEST\n"
    "      starts the plan that opsbrain plan showed with this digest\n"
    "  --users, --context, --output-length, --window\n"
    "      other names for --concurrency, --input-tokens, --output-tokens, --window-s\n"
    "  --window and --warmup-limit-s are " DEFAULT_S
    " seconds by default here, unless --requests is given\n"
    "  --json\n"
    "      shows the report as JSON\n\n"
    "and the flags of opsbrain plan:\n\n";

/* A name contains neither character, so even a mistyped URL counts as a URL. */
static bool is_url(const char *target)
{
    return strpbrk(target, ":/") != NULL;
}

static bool is_sweep(const char *target)
{
    return strncmp(target, "swp_", 4) == 0 && text_is_name(target);
}

/* ---- The plan ---- */

static CHECKED bool show_plan(const struct bench *bench, const json_t *result, struct error *error)
{
    const json_t *block = json_array_get(json_object_get(result, "content"), 0);
    const char *text = json_get_text(block, "text", "");
    TEXT_AUTO plan = { 0 }, worded = { 0 }, shown = { 0 };

    /* the digest and what follows it are for agents */
    text_add_bytes(&plan, text,
                   strstr(text, "\nplan_digest") == NULL
                       ? strlen(text)
                       : (size_t)(strstr(text, "\nplan_digest") - text));
    wording_add_answer(text_string(&plan), &worded);
    readable_add_text(&bench->client.err, text_string(&worded), &shown);
    fputs(text_string(&shown), stderr);
    if (bench->yes)
        return true;
    if (!bench->client.remote.can_ask)
        return error_set(
            error, ERROR_INVALID,
            "this plan needs a go-ahead, and there is no terminal to ask on: give --yes");
    return person_confirm("Start it?")
           || error_set(error, ERROR_CANCELLED, "not started: nothing was measured");
}

/* *digest: a new reference to the digest of the plan that was shown, or to the one given with
 * --plan-digest. If the model server does not answer, no plan is made, so that nobody reads a plan
 * that cannot be started. */
static CHECKED bool review(struct bench *bench, const json_t *arguments, json_t **digest,
                           struct error *error)
{
    json_auto_t *result = NULL;

    if (bench->plan_digest != NULL) {
        *digest = json_string(bench->plan_digest);
        return true;
    }
    if (!bench_target_check(bench, arguments, error)
        || !client_call(&bench->client, "sweep_plan", arguments, &result, error)
        || !show_plan(bench, result, error))
        return false;
    *digest =
        json_string(json_get_text(json_object_get(result, "structuredContent"), "plan_digest", ""));
    return true;
}

static CHECKED bool start(struct bench *bench, const json_t *arguments, struct error *error)
{
    json_auto_t *digest = NULL, *start_arguments = NULL, *started = NULL;
    const char *id;

    if (!review(bench, arguments, &digest, error))
        return false;
    start_arguments = json_pack("{s:O}", "plan_digest", digest);
    if (!client_call_quietly(&bench->client, "sweep_start", start_arguments, &started, error))
        return false;
    id = json_get_text(json_object_get(started, "sweep"), "id", "");
    if (!text_is_name(id)) /* it becomes part of a file name */
        return error_set(error, ERROR_UPSTREAM, "the server's answer has no sweep id");
    text_copy(bench->sweep, sizeof bench->sweep, id);
    return true;
}

/* ---- The report ---- */

static CHECKED bool write_report(const char *path, const struct text *report, struct error *error)
{
    FILE *file = fopen(path, "we");
    bool done =
        file != NULL && fwrite(text_string(report), 1, report->length, file) == report->length;

    if (file != NULL)
        done = fclose(file) == 0 && done;
    return done || error_set(error, ERROR_INTERNAL, "%.200s: %s", path, strerror(errno));
}

/* Called before anything is measured: checks that the report can be written afterwards. */
static CHECKED bool check_output(const struct bench *bench, struct error *error)
{
    const char *path = bench->output, *slash = path == NULL ? NULL : strrchr(path, '/');
    TEXT_AUTO folder = { 0 };
    struct stat status;

    if (path == NULL && !bench->by_url)
        return true;
    if (path != NULL && stat(path, &status) == 0) {
        errno = S_ISDIR(status.st_mode) ? EISDIR : 0;
        return (errno == 0 && access(path, W_OK) == 0)
               || error_set(error, ERROR_INVALID,
                            "the report cannot be written to %.200s (%s): name another file with "
                            "--output",
                            path, strerror(errno));
    }
    if (slash == NULL)
        text_add(&folder, ".");
    else
        text_add_bytes(&folder, path, (size_t)(slash - path) + 1);
    return access(text_string(&folder), W_OK | X_OK) == 0
           || error_set(
               error, ERROR_INVALID,
               "the report cannot be written to %.200s (%s): name a file in another folder "
               "with --output",
               text_string(&folder), strerror(errno));
}

/* Whether the server can write the report as HTML; older servers cannot. */
static CHECKED bool has_html(struct bench *bench, bool *out, struct error *error)
{
    const json_t *tool, *schema;

    if (!client_find_tool(&bench->client, "run_report", &tool, error))
        return false;
    schema = json_object_get(json_object_get(tool, "inputSchema"), "properties");
    *out = json_object_get(schema, "format") != NULL;
    return true;
}

/* Writes the report to a file, as HTML or Markdown. */
static CHECKED bool save(struct bench *bench, struct error *error)
{
    json_auto_t *arguments = json_pack("{s:s}", "sweep", bench->sweep), *result = NULL;
    TEXT_AUTO path = { 0 }, report = { 0 };
    bool html;

    if (!has_html(bench, &html, error))
        return false;
    if (html)
        json_object_set_new(arguments, "format", json_string("html"));
    if (bench->output != NULL)
        text_add(&path, bench->output);
    else
        text_addf(&path, "%s.%s", bench->sweep, html ? "html" : "md");
    if (!client_call(&bench->client, "run_report", arguments, &result, error)
        || !client_read_file(&bench->client, result, &report, error)
        || !write_report(text_string(&path), &report, error))
        return false;
    fprintf(stderr, "Report: %s\n", text_string(&path));
    if (bench->server != NULL)
        fprintf(stderr, "To explore it in a browser: opsbrain serve --data %s\n", bench->folder);
    return true;
}

/* Removes the link to the report's page. The link works only while the server that was started for
 * this benchmark is running. */
static void drop_page(json_t *result)
{
    json_t *block = json_array_get(json_object_get(result, "content"), 0);
    const char *text = json_get_text(block, "text", ""), *page = strstr(text, "\nPage: ");

    json_object_del(json_object_get(result, "structuredContent"), "page");
    if (page != NULL)
        json_object_set_new(block, "text", json_stringn(text, (size_t)(page + 1 - text)));
}

static CHECKED bool show_report(struct bench *bench, struct error *error)
{
    json_auto_t *arguments = json_pack("{s:s}", "sweep", bench->sweep), *result = NULL;

    if (!client_call(&bench->client, "run_report", arguments, &result, error))
        return false;
    if (bench->server != NULL)
        drop_page(result);
    return client_show(&bench->client, result, error);
}

static CHECKED bool finish(struct bench *bench, struct error *error)
{
    if ((bench->by_url || bench->client.json) && !show_report(bench, error))
        return false;
    if (bench->by_url || bench->output != NULL)
        return save(bench, error);
    fprintf(stderr, "opsbrain report %s shows the report\n", bench->sweep);
    return true;
}

/* ---- The command ---- */

/* Sets shorter defaults than the tool has, because a user is waiting at the terminal. */
static CHECKED bool set_defaults(const struct tool_flags *flags, json_t *arguments,
                                 struct error *error)
{
    if (tool_flags_given(arguments, "requests"))
        return true;
    return tool_flags_default(flags, "window_s", DEFAULT_S, arguments, error)
           && tool_flags_default(flags, "warmup_limit_s", DEFAULT_S, arguments, error);
}

/* Reads the command line. *target: the deployment, URL or sweep; "": none. */
static CHECKED bool read_words(struct bench *bench, const json_t *tool, int argc,
                               char *const *given, const char **target, json_t **arguments,
                               struct error *error)
{
    const struct own_flag own[] = { { "yes", .set = &bench->yes },
                                    { "json", .set = &bench->client.json },
                                    { "data", .value = &bench->data },
                                    { "output", .value = &bench->output },
                                    { "plan_digest", .value = &bench->plan_digest },
                                    { 0 } };
    const struct tool_flags flags = { .word = &word,
                                      .schema = json_object_get(tool, "inputSchema"),
                                      .tool = "sweep_plan",
                                      .own = own,
                                      .aliases = aliases };

    *target = "";
    tool_flags_operands(&flags, argc, given, target, 1);
    return tool_flags_read(&flags, argc, given, arguments, error)
           && set_defaults(&flags, *arguments, error);
}

static CHECKED bool follow(struct bench *bench, int *status, struct error *error)
{
    return bench_follow(bench, status, error)
           && (*status == STATUS_INTERRUPTED || finish(bench, error));
}

/* The command line is read twice: first for the target and the command's own flags, which
 * decide which server is used; then, with that server's schema, for the tool's arguments. */
static CHECKED bool carry_out(struct bench *bench, int argc, char *const *given, int *status,
                              struct error *error)
{
    json_auto_t *first = NULL, *arguments = NULL;
    const char *target;
    const json_t *tool;

    *status = STATUS_USAGE;
    if (!read_words(bench, NULL, argc, given, &target, &first, error))
        return false;
    *status = STATUS_FAILED;
    bench->by_url = is_url(target);
    if (!check_output(bench, error))
        return false;
    if ((bench->by_url && !bench_target_find(bench, target, error))
        || (!bench->by_url && bench->data != NULL && !bench_target_serve(bench, error)))
        return false;
    if (!client_find_tool(&bench->client, "sweep_plan", &tool, error))
        return false;
    *status = STATUS_USAGE;
    if (!read_words(bench, tool, argc, given, &target, &arguments, error))
        return false;
    *status = STATUS_FAILED;
    if (bench->by_url)
        json_object_set_new(arguments, "deployment", json_string(bench->deployment));
    if (is_sweep(target))
        text_copy(bench->sweep, sizeof bench->sweep, target);
    return (is_sweep(target) || start(bench, arguments, error)) && follow(bench, status, error);
}

bool client_bench_help(struct text *out, struct error *error)
{
    text_add(out, help);
    return client_help("plan", out, error);
}

int client_bench(const struct bench_host *host, int argc, char *const *argv)
{
    struct bench bench = { .host = host };
    struct error error;
    int status = STATUS_FAILED;

    if (client_asks_for_help(argc, argv))
        return client_help_show("bench");
    display_width_begin();
    if (!client_open(&bench.client, &error)
        || !carry_out(&bench, argc - 1, argv + 1, &status, &error)) {
        int failure_status = client_fail(&bench.client, &error);

        status = status == STATUS_USAGE ? STATUS_USAGE : failure_status;
    }
    if (bench.server != NULL)
        host->stop(bench.server);
    client_finish(&bench.client);
    return status;
}
