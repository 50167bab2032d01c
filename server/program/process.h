/* SPDX-License-Identifier: Apache-2.0 */
/* System settings for the whole process. Call these functions once, before there are threads. */
#pragma once

#include <stdbool.h>

/* Limits the number of malloc arenas. Each arena keeps the memory that its threads once needed, so
 * with many arenas the process would grow for hours. */
void process_limit_memory(void);
/* In release builds: no core dumps, no debugger, and no new privileges for programs that the
 * process starts. Does nothing in other builds, since sanitizers must attach to the process. A
 * setting that the kernel refuses is logged. */
void process_harden(void);
