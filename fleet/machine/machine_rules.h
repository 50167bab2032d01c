/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for what may run on this machine, and checks of what is needed to run it. Private to
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

/* Copies the settings. INVALID if a path that an admin has set is not absolute, or if the address
 * of Ollama is not a loopback URL; the message names the setting. */
CHECKED bool machine_rules_read(const struct machine_settings *settings, struct machine_rules *out,
                                struct error *error);
/* Checks that the server in this record may be started now. If the record names a folder of models,
 * that must be the folder in the setting this_machine_models, or a folder in it. A program must be
 * listed in the setting this_machine_programs, and must not be writable by everybody. A container's
 * image must be named by its digest, and Podman or Docker must answer. The port of a program or
 * container must be free. For a service, this machine's Ollama must answer. If a setting must
 * change, the error names the setting. */
CHECKED bool machine_rules_check(const struct machine_rules *rules, const json_t *record,
                                 struct error *error);
/* Checks only the program. */
CHECKED bool machine_rules_check_program(const struct machine_rules *rules, const char *program,
                                         struct error *error);
/* Appends a finding {"need", "ok"} for each thing that servers here might need, with a "fix" if
 * "ok" is false. */
void machine_rules_findings(const struct machine_rules *rules, json_t *findings);
