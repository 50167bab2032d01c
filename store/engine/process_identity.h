/* SPDX-License-Identifier: Apache-2.0 */
/* Identifies a process of a machine in a text by which other processes can check whether it has
 * ended. Private to store/. */
#pragma once

#include <stdbool.h>

#define PROCESS_IDENTITY_SIZE 160

/* The calling process; "" if /proc does not show it. */
void process_identity_write(char out[PROCESS_IDENTITY_SIZE]);
/* True only if it was a process of this machine, since its last boot, that the caller would see in
 * /proc if it still ran. */
bool process_identity_is_gone(const char *identity);
