/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/machine/machine_rules.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json/json.h"
#include "base/net/url.h"
#include "fleet/machine/machine_http.h"

#define SHOWN_BYTES 120
#define DIGEST_LENGTH 71 /* "sha256:" and 64 hexadecimal digits */
#define POD_ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount/token"

bool machine_check_place(struct error *error)
{
    static const struct {
        const char *variable, *place;
    } places[] = {
        { "K_SERVICE", "on Cloud Run" },
        { "CLOUD_RUN_JOB", "on Cloud Run" },
        { "KUBERNETES_SERVICE_HOST", "in a Kubernetes pod" },
    };

    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (getenv(places[i].variable) != NULL)
            return error_set(error, ERROR_FORBIDDEN,
                             "the setting this_machine cannot be used %s (%s is set): turn "
                             "the setting off",
                             places[i].place, places[i].variable);
    return access(POD_ACCOUNT, F_OK) != 0
           || error_set(error, ERROR_FORBIDDEN,
                        "the setting this_machine cannot be used in a Kubernetes pod (%s exists): "
                        "turn the setting off",
                        POD_ACCOUNT);
}

/* ---- The settings ---- */

static CHECKED bool check_path(const char *setting, const char *path, struct error *error)
{
    return path[0] == '\0' || path[0] == '/'
           || error_set(error, ERROR_INVALID, "%s contains \"%.*s\": write an absolute path",
                        setting, SHOWN_BYTES, path);
}

/* Calls `each` for each listed program, until a call returns false. Returns true if none did. */
static bool each_program(const struct machine_rules *rules,
                         bool (*each)(const char *path, void *context), void *context)
{
    char list[CONFIG_TEXT_SIZE];
    char *rest = list, *entry;
    bool goes_on = true;

    text_copy(list, sizeof list, rules->programs);
    while (goes_on && (entry = strsep(&rest, ",")) != NULL) {
        entry += strspn(entry, " \t");
        entry[strcspn(entry, " \t")] = '\0';
        if (entry[0] != '\0')
            goes_on = each(entry, context);
    }
    return goes_on;
}

static bool is_good_path(const char *path, void *context)
{
    return check_path("this_machine_programs", path, context);
}

static CHECKED bool check_ollama(const char *url, struct error *error)
{
    char host[URL_HOST_SIZE];
    struct error why;
    int port;

    if (url[0] == '\0')
        return true;
    if (!url_check(url, host, &port, &why))
        return error_set(error, ERROR_INVALID, "this_machine_ollama: %s", why.message);
    return strcmp(host, "127.0.0.1") == 0 || strcmp(host, "localhost") == 0
           || strcmp(host, "::1") == 0
           || error_set(
               error, ERROR_INVALID,
               "this_machine_ollama has the host %s: it must be 127.0.0.1, localhost or ::1", host);
}

bool machine_rules_read(const struct machine_settings *settings, struct machine_rules *out,
                        struct error *error)
{
    size_t length;

    *out = (struct machine_rules){ 0 };
    text_copy(out->folder, sizeof out->folder, settings->folder);
    text_copy(out->work, sizeof out->work, settings->work);
    text_copy(out->programs, sizeof out->programs, settings->programs);
    text_copy(out->models, sizeof out->models, settings->models);
    text_copy(out->containers, sizeof out->containers, settings->containers);
    length = text_copy(out->ollama, sizeof out->ollama, settings->ollama);
    if (length > 0 && out->ollama[length - 1] == '/')
        out->ollama[length - 1] = '\0';
    return each_program(out, is_good_path, error)
           && check_path("this_machine_work", out->work, error)
           && check_path("this_machine_models", out->models, error)
           && check_path("this_machine_containers", out->containers, error)
           && check_ollama(out->ollama, error);
}

/* ---- Programs ---- */

static bool is_other(const char *path, void *context)
{
    return strcmp(path, context) != 0;
}

/* FORBIDDEN if everybody can write to the file or to a folder above it. A folder with the sticky
 * bit, such as /tmp, is allowed. */
static CHECKED bool check_writers(const char *path, struct error *error)
{
    char part[PATH_MAX];
    struct stat status;

    text_copy(part, sizeof part, path);
    for (char *end = part + strlen(part); end != NULL; end = strrchr(part, '/')) {
        const char *place = end == part ? "/" : part;

        *end = '\0';
        if (stat(place, &status) != 0)
            return error_set(error, ERROR_FORBIDDEN, "%s: %s", place, strerror(errno));
        if ((status.st_mode & S_IWOTH) != 0 && (status.st_mode & S_ISVTX) == 0)
            return error_set(error, ERROR_FORBIDDEN,
                             "everybody can write to %s, so %s is not run: chmod o-w %s", place,
                             path, place);
    }
    return true;
}

static CHECKED bool check_file(const char *program, struct error *error)
{
    char real[PATH_MAX];
    struct stat status;

    if (realpath(program, real) == NULL || stat(program, &status) != 0)
        return error_set(error, ERROR_NOT_FOUND, "the program %s cannot be found: %s", program,
                         strerror(errno));
    if (strcmp(real, program) != 0)
        return error_set(
            error, ERROR_FORBIDDEN,
            "%s is reached through a symbolic link: use the program's real path, %s, in "
            "the setting this_machine_programs and in the recipe",
            program, real);
    if (!S_ISREG(status.st_mode) || access(program, X_OK) != 0)
        return error_set(error, ERROR_FORBIDDEN, "%s is not an executable program", program);
    return check_writers(program, error);
}

bool machine_rules_check_program(const struct machine_rules *rules, const char *program,
                                 struct error *error)
{
    TEXT_AUTO shown = { 0 };

    text_add_printable(&shown, program, strlen(program), SHOWN_BYTES);
    if (program[0] != '/')
        return error_set(error, ERROR_FORBIDDEN,
                         "\"%s\" is not an absolute path: name a program that the setting "
                         "this_machine_programs lists",
                         text_string(&shown));
    if (each_program(rules, is_other, (void *)(uintptr_t)program))
        return error_set(error, ERROR_FORBIDDEN,
                         "%s is not one of the programs that an admin allows here with the setting "
                         "this_machine_programs",
                         text_string(&shown));
    return check_file(program, error);
}

/* ---- Models, ports, images ---- */

static CHECKED bool check_models(const struct machine_rules *rules, const char *folder,
                                 struct error *error)
{
    char real[PATH_MAX], models[PATH_MAX];
    size_t length;

    if (folder[0] == '\0')
        return true;
    if (rules->models[0] == '\0')
        return error_set(error, ERROR_FORBIDDEN,
                         "the recipe's models are in %s: an admin must first allow a folder of "
                         "models with the setting this_machine_models",
                         folder);
    if (realpath(rules->models, models) == NULL)
        return error_set(error, ERROR_NOT_FOUND, "%s (from the setting this_machine_models): %s",
                         rules->models, strerror(errno));
    if (realpath(folder, real) == NULL)
        return error_set(error, ERROR_NOT_FOUND, "the folder of models %s cannot be found: %s",
                         folder, strerror(errno));
    length = strlen(models);
    return (strncmp(real, models, length) == 0 && (real[length] == '/' || real[length] == '\0'))
           || error_set(error, ERROR_FORBIDDEN,
                        "%s is not in %s, the folder that the setting this_machine_models names",
                        folder, rules->models);
}

static CHECKED bool check_port(int64_t port, struct error *error)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port),
                                   .sin_addr = { htonl(INADDR_LOOPBACK) } };
    int one = 1, made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_free;

    setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    is_free = made >= 0 && port > 0 && port < 65536
              && bind(made, (const struct sockaddr *)&address, sizeof address) == 0;
    if (made >= 0)
        close(made);
    return is_free
           || error_set(
               error, ERROR_CONFLICT,
               "port %lld on this machine is in use or not permitted: stop the process that "
               "listens there, or use a recipe with another port",
               (long long)port);
}

/* Accepts NAME@sha256:..., or an image's own id, sha256:... */
static CHECKED bool check_image(const char *image, struct error *error)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_./:@";
    const char *digest = strstr(image, "sha256:");

    return (digest != NULL && (digest == image || digest[-1] == '@')
            && strlen(digest) == DIGEST_LENGTH
            && strspn(digest + 7, "0123456789abcdef") == DIGEST_LENGTH - 7
            && image[strspn(image, plain)] == '\0' && strstr(image, "..") == NULL)
           || error_set(error, ERROR_INVALID,
                        "the image \"%.*s\" is not named by its digest: write NAME@sha256:... with "
                        "64 hexadecimal digits",
                        SHOWN_BYTES, image);
}

static CHECKED bool check_containers(const struct machine_rules *rules, struct error *error)
{
    const struct machine_http http = { .socket = rules->containers,
                                       .base = "http://localhost",
                                       .bearer = "" };
    MACHINE_HTTP_REPLY_AUTO reply = { 0 };
    struct error why;

    if (rules->containers[0] == '\0')
        return error_set(error, ERROR_FORBIDDEN,
                         "no containers are run here: an admin can allow them by naming the socket "
                         "of Podman or Docker in the setting this_machine_containers");
    return machine_http_call(&http, "GET", "/_ping", NULL, &reply, &why)
           || error_set(error, ERROR_UPSTREAM,
                        "%s (from the setting this_machine_containers): %.200s", rules->containers,
                        why.message);
}

static CHECKED bool check_service(const struct machine_rules *rules, struct error *error)
{
    const struct machine_http http = { .socket = "", .base = rules->ollama, .bearer = "" };
    MACHINE_HTTP_REPLY_AUTO reply = { 0 };
    struct error why;

    if (rules->ollama[0] == '\0')
        return error_set(error, ERROR_FORBIDDEN,
                         "this machine's Ollama is not used: an admin can allow it by giving its "
                         "address in the setting this_machine_ollama");
    return machine_http_call(&http, "GET", "/api/version", NULL, &reply, &why)
           || error_set(error, ERROR_UPSTREAM, "%s (from the setting this_machine_ollama): %.200s",
                        rules->ollama, why.message);
}

bool machine_rules_check(const struct machine_rules *rules, const json_t *record,
                         struct error *error)
{
    const char *program = json_get_text(record, "program", "");
    const json_t *models = json_object_get(record, "models");

    if (!check_models(rules, json_get_text(models, "folder", ""), error))
        return false;
    if (json_object_get(record, "service") != NULL)
        return check_service(rules, error);
    if (!check_port(json_get_integer(record, "port", 0), error))
        return false;
    return json_object_get(record, "image") != NULL
               ? check_image(json_get_text(record, "image", ""), error)
                     && check_containers(rules, error)
               : machine_rules_check_program(rules, program, error);
}

/* ---- Findings ---- */

static void add_finding(json_t *findings, const char *need, bool ok, const char *fix)
{
    json_t *finding = json_pack("{s:s, s:b}", "need", need, "ok", ok);

    if (!ok)
        json_object_set_new(finding, "fix", json_string(fix));
    json_array_append_new(findings, finding);
}

struct finding_programs {
    const struct machine_rules *rules;
    json_t *findings;
};

static bool add_program(const char *path, void *context)
{
    const struct finding_programs *programs = context;
    char need[PATH_MAX + 32];
    struct error error = { 0 };
    bool ok = machine_rules_check_program(programs->rules, path, &error);

    snprintf(need, sizeof need, "run the program %s", path);
    add_finding(programs->findings, need, ok, error.message);
    return true;
}

/* Only root can start a program under another account. */
static void add_account(json_t *findings)
{
    char fix[200];

    snprintf(
        fix, sizeof fix,
        "programs run under opsbrain's own account (uid %lld) and can read its data and secrets: "
        "run opsbrain as root, or run servers as containers",
        (long long)geteuid());
    add_finding(findings, "programs run under accounts of their own", geteuid() == 0, fix);
}

static void add_memory(json_t *findings)
{
    long pages = sysconf(_SC_PHYS_PAGES), free_pages = sysconf(_SC_AVPHYS_PAGES);
    double gib = (double)sysconf(_SC_PAGESIZE) / (1 << 30);
    char need[160];

    snprintf(need, sizeof need, "memory: %.1f GiB, %.1f GiB of it unused; %s", (double)pages * gib,
             (double)free_pages * gib,
             access("/dev/nvidiactl", F_OK) == 0 ? "an NVIDIA GPU"
             : access("/dev/kfd", F_OK) == 0     ? "an AMD GPU"
                                                 : "no known GPU");
    add_finding(findings, need, true, "");
}

void machine_rules_findings(const struct machine_rules *rules, json_t *findings)
{
    struct finding_programs programs = { rules, findings };
    struct error error = { 0 };

    if (rules->programs[0] == '\0')
        add_finding(findings, "run programs", false,
                    "list their absolute paths in the setting this_machine_programs");
    each_program(rules, add_program, &programs);
    add_account(findings);
    add_finding(findings, "run containers", check_containers(rules, &error), error.message);
    add_finding(findings, "use this machine's Ollama", check_service(rules, &error), error.message);
    add_finding(findings, "read models", rules->models[0] != '\0',
                "name their folder in the setting this_machine_models");
    add_memory(findings);
}
