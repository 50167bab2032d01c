/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/sweeps/workload_request.h"

const char *const length_distributions[] = { "fixed", "uniform", "lognormal", "dataset", NULL };
