/* What both of aiperf's formats need. Private to analysis/import_*.c. */
#pragma once

#include "analysis/import_members.h"

/* Milliseconds in a unit as aiperf names it; its latencies are milliseconds where none is named;
 * NaN: it is not known. */
double aiperf_ms(const char *unit);
