/* SPDX-License-Identifier: Apache-2.0 */
/* Renews the credential that a cell's requests carry: an ID token might expire while the cell is
 * being measured. */
#pragma once

#include "base/core/error.h"

struct credential_renewal;
struct load;

/* Starts a thread that renews load->credential until credential_renewal_end; `load` must exist
 * until then. If the endpoint has no lock, its credential does not expire, so no thread is
 * started, and *out is set to NULL. */
CHECKED bool credential_renewal_begin(struct load *load, struct credential_renewal **out,
                                      struct error *error);
void credential_renewal_end(struct credential_renewal *renewal); /* does nothing for NULL */
