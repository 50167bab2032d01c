/* SPDX-License-Identifier: Apache-2.0 */
/* Functions for the trial of this machine (trial.h), which has real watchdogs and a fake Podman. */
#pragma once

#include "tests/clouds/trial.h"

void trial_here_start(struct trial_site *site);
void trial_here_stop(struct trial_site *site);
bool trial_here_set(struct trial_site *site, const char *condition);
