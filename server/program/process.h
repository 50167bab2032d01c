/* SPDX-License-Identifier: Apache-2.0 */
/* Process-wide system settings, made once, before there are threads. */
#pragma once

#include <stdbool.h>

/* Limits the number of malloc arenas: each keeps the memory that its threads once needed, so that
 * memory would grow for hours. */
void process_limit_memory(void);
/* In release builds: no core dumps, no debugger, and no new privileges for programs it starts. Does
 * nothing in other builds, since sanitizers attach to their own process. A setting that the kernel
 * refuses is logged. */
void process_harden(void);
