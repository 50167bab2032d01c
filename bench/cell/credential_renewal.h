/* SPDX-License-Identifier: Apache-2.0 */
/* Renews the credential of a cell's requests: an ID token may expire while the cell is measured. */
#pragma once

#include "base/core/error.h"

struct credential_renewal;
struct load;

/* Starts a thread that renews load->credential until credential_renewal_end; `load` must live that
 * long. If the endpoint has no lock, its credential does not expire: starts none, and sets *out to
 * NULL. */
CHECKED bool credential_renewal_begin(struct load *load, struct credential_renewal **out,
                                      struct error *error);
void credential_renewal_end(struct credential_renewal *renewal); /* does nothing for NULL */
