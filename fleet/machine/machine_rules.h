/* SPDX-License-Identifier: Apache-2.0 */
/* What may run on this machine, and which means of running it are available. Private to
 * fleet/machine. */
#pragma once

#include <jansson.h>
#include <limits.h>

#include "base/formats/config.h"
#include "fleet/machine/machine.h"

struct machine_rules {
    char folder[CONFIG_TEXT_SIZE], work[CONFIG_TEXT_SIZE];
    char programs[CONFIG_TEXT_SIZE], models[CONFIG_TEXT_SIZE];
    char containers[CONFIG_TEXT_SIZE], ollama[CONFIG_TEXT_SIZE];
};

/* INVALID names the setting that is not an absolute path, or not on loopback. */
CHECKED bool machine_rules_read(const struct machine_settings *settings, struct machine_rules *out,
                                struct error *error);
/* Whether this server may be started now: its program is listed and nobody else can change it, its
 * models are in the admin's folder, its port is free, and its Podman, Docker or Ollama answers.
 * Errors name the setting to change. */
CHECKED bool machine_rules_check(const struct machine_rules *rules, const json_t *record,
                                 struct error *error);
CHECKED bool machine_rules_check_program(const struct machine_rules *rules, const char *program,
                                         struct error *error);
/* {"need", "ok", "fix"} for each thing that servers here may need. */
void machine_rules_find(const struct machine_rules *rules, json_t *findings);
