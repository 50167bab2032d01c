/* SPDX-License-Identifier: Apache-2.0 */
#include "server/settings/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/text.h"
#include "base/net/ip.h"
#include "base/net/url.h"
#include "handlers/tool_sets.h"

#define AT(member) offsetof(struct settings, member)
#define DAYS_LIMIT 36500
#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
#define RATE_TEXT TEXT(RATE_BY_DEFAULT)

const struct setting settings_table[] = {
    { "listen", SETTING_TEXT, "127.0.0.1:8080", 0, 0, AT(listen),
      "address and port; any address but loopback requires an API key (opsbrain key add)" },
    { "data", SETTING_TEXT, "./data", 0, 0, AT(data), "the database's folder" },
    { "database", SETTING_PRIVATE, "", 0, 0, AT(database),
      "postgresql://USER@HOST/NAME; if not set, files in `data` are used; put a password in the "
      "environment or PGPASSFILE, not in a flag" },
    { "database_password_file", SETTING_TEXT, "", 0, 0, AT(database_password_file),
      "file whose first line is the database's password; read for each connection" },
    { "auth", SETTING_TEXT, "auto", 0, 0, AT(auth),
      "auto: calls need a key once one exists; until then, only loopback is served, as `local`; "
      "keys: calls always need one; none: never" },
    { "allowed_hosts", SETTING_TEXT, "", 0, 0, AT(allowed_hosts),
      "names that clients may send in Host besides localhost, separated by commas; * for any" },
    { "allowed_origins", SETTING_TEXT, "", 0, 0, AT(allowed_origins),
      "origins of web pages that may call this server, separated by commas; * for any" },
    { "trusted_proxies", SETTING_TEXT, "", 0, 0, AT(trusted_proxies),
      "networks of proxies whose X-Forwarded-For is trusted, separated by commas (10.0.0.0/8, "
      "::1)" },
    { "public_url", SETTING_TEXT, "", 0, 0, AT(public_url),
      "base URL of links to pages in answers, such as https://opsbrain.example; if not set, made "
      "from the request's scheme and Host" },
    { "allowed_servers", SETTING_TEXT, "", 0, 0, AT(allowed_servers),
      "networks, addresses and names of model servers that may be called (.example.com includes "
      "subdomains); if not set, any" },
    { "tools", SETTING_TEXT, "fleet,measure,audit", 0, 0, AT(tools),
      "tools to list if /mcp?tools= names none: sets (all, fleet, measure, audit, deploy) or names "
      "of tools" },
    { "recipes", SETTING_TEXT, "", 0, 0, AT(recipes),
      "folder with the team's recipes, one file NAME.json for each; read at startup" },
    { "cloud_endpoints", SETTING_TEXT, "", 0, 0, AT(cloud_endpoints),
      "base URLs that replace those of cloud services, such as run=http://127.0.0.1:8001 for a "
      "test" },
    { "this_machine", SETTING_BOOLEAN, "false", 0, 0, AT(this_machine),
      "whether model servers may be started on this machine, through a target of the provider "
      "`local`; not allowed on Cloud Run or in a pod" },
    { "this_machine_programs", SETTING_TEXT, "", 0, 0, AT(this_machine_programs),
      "absolute paths of the programs that may be run on this machine, separated by commas" },
    { "this_machine_models", SETTING_TEXT, "", 0, 0, AT(this_machine_models),
      "folder with models, mounted read-only in containers" },
    { "this_machine_containers", SETTING_TEXT, "", 0, 0, AT(this_machine_containers),
      "socket of Podman or Docker, such as /run/podman/podman.sock; if not set, no containers" },
    { "this_machine_ollama", SETTING_TEXT, "", 0, 0, AT(this_machine_ollama),
      "address of this machine's Ollama, such as http://127.0.0.1:11434" },
    { "this_machine_work", SETTING_TEXT, "", 0, 0, AT(this_machine_work),
      "folder that contains the programs' working folders; if not set, `data` or, for root, "
      "/var/lib/opsbrain-engines" },
    { "cloud_pause_ms", SETTING_INTEGER, "2000", 20, 60000, AT(cloud_pause_ms),
      "milliseconds between checks of a change that a cloud is making; the pause grows to at "
      "most 8 times that" },
    { "secrets", SETTING_TEXT, "", 0, 0, AT(secrets),
      "folder with deployments' secrets, one per file; if not set, secrets come only from the "
      "environment" },
    { "audit_key", SETTING_TEXT, "", 0, 0, AT(audit_key),
      "file outside `data` with the keys for the audit log's digests, one per line, newest first" },
    { "http_threads", SETTING_INTEGER, "0", 0, 64, AT(http_threads),
      "threads that serve connections; 0: one per core, at most 4" },
    { "workers", SETTING_INTEGER, "4", 1, 256, AT(workers),
      "threads for calls that block briefly" },
    { "waiting_workers", SETTING_INTEGER, "128", 1, 1024, AT(waiting_workers),
      "threads for calls that wait for users or model servers" },
    { "sweep_workers", SETTING_INTEGER, "2", 1, 64, AT(sweep_workers),
      "sweeps that can run at once" },
    { "sweep_shards", SETTING_INTEGER, "1", 1, 64, AT(sweep_shards),
      "maximum number of load threads per cell" },
    { "sweeps_per_principal", SETTING_INTEGER, "500", 0, 1000000, AT(sweeps_per_principal),
      "sweeps that one principal may have queued or running; 0: no limit" },
    { "queue_limit", SETTING_INTEGER, "256", 1, 65536, AT(queue_limit),
      "calls that may wait for a worker; more are refused as busy" },
    { "connections", SETTING_INTEGER, "16384", 16, 1000000, AT(connections),
      "maximum number of open connections; if there are more, idle ones are closed, those without "
      "a key first" },
    { "connections_per_address", SETTING_INTEGER, "1024", 0, 1000000, AT(connections_per_address),
      "open connections per address (IPv6: per /64 network), except from trusted proxies; 0: no "
      "limit (the default if PORT is set)" },
    { "calls_per_principal", SETTING_INTEGER, "64", 0, 65536, AT(calls_per_principal),
      "calls that one principal may have running or waiting (set it below waiting_workers, so that "
      "others get a worker); 0: no limit" },
    { "rate_per_principal", SETTING_INTEGER, RATE_TEXT, 0, 1000000, AT(rate_per_principal),
      "requests per second from one principal; 0: no limit (the default for `local` while no keys "
      "are needed)" },
    { "burst_per_principal", SETTING_INTEGER, "0", 0, 1000000, AT(burst_per_principal),
      "requests in a burst from one principal; 0: twice the rate per second" },
    { "body_limit_bytes", SETTING_INTEGER, "1048576", 1024, 8388608, AT(body_limit_bytes),
      "maximum length of a request's body, except an uploaded file" },
    { "answer_limit_bytes", SETTING_INTEGER, "8388608", 65536, 15728640, AT(answer_limit_bytes),
      "maximum length of a tool's or resource's answer; a longer one becomes an error that "
      "suggests asking for less" },
    { "disk_reserve_bytes", SETTING_INTEGER, "268435456", 0, INT64_C(1) << 50,
      AT(disk_reserve_bytes),
      "bytes of disk space, at most a tenth of the disk, reserved for running jobs and admins; 0: "
      "none" },
    { "storage_limit_bytes", SETTING_INTEGER, "4294967296", 0, INT64_C(1) << 50,
      AT(storage_limit_bytes),
      "bytes of imports, datasets, sweeps and deployments that one principal may store, unless it "
      "is an admin; 0: no limit" },
    { "sessions", SETTING_INTEGER, "10000", 1, 1000000, AT(sessions),
      "maximum number of sessions; the one unused for longest is deleted first" },
    { "sessions_per_principal", SETTING_INTEGER, "2000", 1, 1000000, AT(sessions_per_principal),
      "maximum number of sessions of one principal" },
    { "session_idle", SETTING_DURATION_S, "24h", 60, 31536000, AT(session_idle_s),
      "time after which an unused session is forgotten" },
    { "sign_in_idle", SETTING_DURATION_S, "12h", 60, 31536000, AT(sign_in_idle_s),
      "time without a request after which a browser is signed out" },
    { "sign_in", SETTING_DURATION_S, "7d", 60, 31536000, AT(sign_in_s),
      "time after which a browser is signed out in any case" },
    { "header_timeout", SETTING_DURATION_S, "20s", 1, 3600, AT(header_timeout_s),
      "time for a request's headers to arrive, from connecting or, for later requests, from the "
      "first byte" },
    { "body_timeout", SETTING_DURATION_S, "30s", 1, 3600, AT(body_timeout_s),
      "time for a request's body to arrive or, if it is a file, for each MiB of it" },
    { "send_timeout", SETTING_DURATION_S, "60s", 1, 3600, AT(send_timeout_s),
      "time that a client may take to read an answer" },
    { "keep_alive", SETTING_DURATION_S, "15s", 1, 600, AT(keep_alive_s),
      "time between the comments that keep idle streams open" },
    { "ask_timeout", SETTING_DURATION_S, "5m", 1, 3600, AT(ask_timeout_s),
      "in sessions: time that users may take to answer a call's question" },
    { "records_days", SETTING_INTEGER, "30", 0, DAYS_LIMIT, AT(records_days),
      "days to keep raw request records of sweeps; 0: forever" },
    { "jobs_days", SETTING_INTEGER, "90", 0, DAYS_LIMIT, AT(jobs_days),
      "days to keep finished jobs that have no sweep; 0: forever" },
    { "audit_days", SETTING_INTEGER, "365", 0, DAYS_LIMIT, AT(audit_days),
      "days to keep the rows of the audit log; 0: forever" },
    { "samples_days", SETTING_INTEGER, "2", 0, DAYS_LIMIT, AT(samples_days),
      "days to keep scraped metrics at full resolution; 0: forever" },
    { "samples_10s_days", SETTING_INTEGER, "7", 0, DAYS_LIMIT, AT(samples_10s_days),
      "days to keep scraped metrics rolled up to 10 s; 0: forever" },
    { "samples_1m_days", SETTING_INTEGER, "90", 0, DAYS_LIMIT, AT(samples_1m_days),
      "days to keep scraped metrics rolled up to 1 min; 0: forever" },
    { "samples_1h_days", SETTING_INTEGER, "730", 0, DAYS_LIMIT, AT(samples_1h_days),
      "days to keep scraped metrics rolled up to 1 h; 0: forever" },
    { "log_requests", SETTING_BOOLEAN, "true", 0, 0, AT(log_requests),
      "one log line per request, except for /health, /ready, /metrics and assets" },
    { "hardened", SETTING_BOOLEAN, "true", 0, 0, AT(hardened),
      "in release builds, no core dumps, debuggers or new privileges; false to debug such a "
      "build" },
};
const size_t settings_count = sizeof settings_table / sizeof *settings_table;

/* An empty variable counts as unset, as it does for config_read. */
static bool has_variable(const char *name)
{
    const char *value = getenv(name);

    return value != NULL && value[0] != '\0';
}

/* If PORT is set, as on a platform such as Cloud Run, `listen` and connections_per_address have
 * other defaults. Flags and environment variables for these two take precedence. */
static CHECKED bool apply_port(struct error *error)
{
    const char *port = getenv("PORT");
    char listen[32];
    int64_t number;

    if (!has_variable("PORT"))
        return true;
    /* all connections come from the few addresses of the platform's proxies */
    if (!has_variable("OPSBRAIN_CONNECTIONS_PER_ADDRESS"))
        setenv("OPSBRAIN_CONNECTIONS_PER_ADDRESS", "0", 1);
    if (has_variable("OPSBRAIN_LISTEN"))
        return true;
    if (!text_to_integer(port, 0, 65535, &number))
        return error_set(error, ERROR_INVALID, "PORT is \"%.40s\", but must be 0 to 65535", port);
    snprintf(listen, sizeof listen, "0.0.0.0:%d", (int)number);
    setenv("OPSBRAIN_LISTEN", listen, 1);
    return true;
}

static CHECKED bool check_proxies(const struct settings *settings, struct error *error)
{
    struct ip_networks ignored;
    struct error why;

    return ip_networks_parse(settings->trusted_proxies, &ignored, &why)
           || error_set(error, ERROR_INVALID, "trusted_proxies: %s", why.message);
}

/* Checks public_url, the beginning of links in answers. */
static CHECKED bool check_public_url(const struct settings *settings, struct error *error)
{
    char host[URL_HOST_SIZE];
    struct error why;
    int port;

    return settings->public_url[0] == '\0' || url_check(settings->public_url, host, &port, &why)
           || error_set(error, ERROR_INVALID, "public_url: %s", why.message);
}

static CHECKED bool check_auth(const struct settings *settings, struct error *error)
{
    static const char *const modes[] = { "auto", "keys", "none" };

    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(settings->auth, modes[i]) == 0)
            return true;
    return error_set(error, ERROR_INVALID, "auth is \"%.40s\", but must be auto, keys or none",
                     settings->auth);
}

bool settings_read(int argc, char *const *argv, struct settings *out, struct error *error)
{
    struct settings settings = { 0 };

    if (!apply_port(error)
        || !config_read(settings_table, settings_count, argc, argv, &settings, error)
        || !check_auth(&settings, error) || !check_proxies(&settings, error)
        || !check_public_url(&settings, error) || !tool_sets_check(settings.tools, "tools", error))
        return false;
    *out = settings;
    return true;
}
