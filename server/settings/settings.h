/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of `opsbrain serve`, in one table. They are read once, at startup, and do not change
 * afterwards. */
#pragma once

#include "base/formats/config.h"

struct settings {
    char listen[CONFIG_TEXT_SIZE];
    char data[CONFIG_TEXT_SIZE];
    char database[CONFIG_TEXT_SIZE];
    char database_password_file[CONFIG_TEXT_SIZE];
    char auth[CONFIG_TEXT_SIZE];
    char allowed_hosts[CONFIG_TEXT_SIZE];
    char allowed_origins[CONFIG_TEXT_SIZE];
    char trusted_proxies[CONFIG_TEXT_SIZE];
    char public_url[CONFIG_TEXT_SIZE];
    char allowed_servers[CONFIG_TEXT_SIZE];
    char tools[CONFIG_TEXT_SIZE];
    char recipes[CONFIG_TEXT_SIZE];
    char cloud_endpoints[CONFIG_TEXT_SIZE];
    char secrets[CONFIG_TEXT_SIZE];
    char audit_key[CONFIG_TEXT_SIZE];
    char this_machine_programs[CONFIG_TEXT_SIZE];
    char this_machine_models[CONFIG_TEXT_SIZE];
    char this_machine_containers[CONFIG_TEXT_SIZE];
    char this_machine_ollama[CONFIG_TEXT_SIZE];
    char this_machine_work[CONFIG_TEXT_SIZE];
    int64_t http_threads, workers, waiting_workers, sweep_workers, sweep_shards;
    int64_t sweeps_per_principal;
    int64_t cloud_pause_ms;
    int64_t queue_limit, connections, connections_per_address;
    int64_t body_limit_bytes, answer_limit_bytes;
    int64_t calls_per_principal, rate_per_principal, burst_per_principal;
    int64_t disk_reserve_bytes, storage_limit_bytes;
    int64_t sessions, sessions_per_principal;
    int64_t sign_in_idle_s, sign_in_s;
    int64_t session_idle_s, header_timeout_s, body_timeout_s, send_timeout_s, keep_alive_s;
    int64_t ask_timeout_s;
    int64_t records_days, jobs_days, audit_days;
    int64_t samples_days, samples_10s_days, samples_1m_days, samples_1h_days;
    bool log_requests, hardened, this_machine;
};

#define RATE_BY_DEFAULT 5000 /* the default of rate_per_principal */

extern const struct setting settings_table[];
extern const size_t settings_count;

/* Reads the settings from the environment and the flags after the command's name. With `PORT` in
 * the environment (as on Cloud Run), the defaults are to listen on that port of all IPv4
 * addresses, and not to limit the connections per address. */
CHECKED bool settings_read(int argc, char *const *argv, struct settings *out, struct error *error);
