/* SPDX-License-Identifier: Apache-2.0 */
/* Which process of which machine, as text that other processes can check: whether it is gone.
 * Private to store/. */
#pragma once

#include <stdbool.h>

#define PROCESS_IDENTITY_SIZE 160

/* Of the calling process; "" where /proc does not say it. */
void process_identity_write(char out[PROCESS_IDENTITY_SIZE]);
/* True only if it was a process of this machine, since its last boot, that the caller would see in
 * /proc if it were still there. */
bool process_identity_is_gone(const char *identity);
