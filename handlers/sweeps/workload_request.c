#include "handlers/sweeps/workload_request.h"

const char *const length_distributions[] = { "fixed", "uniform", "lognormal", "dataset", NULL };
