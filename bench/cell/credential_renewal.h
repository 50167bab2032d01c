/* SPDX-License-Identifier: Apache-2.0 */
/* Renews the credential of a cell's requests: an ID token may expire within the cell. */
#pragma once

#include "base/core/error.h"

struct credential_renewal;
struct load;

/* Starts a thread that renews load->credential until credential_renewal_end. *out is NULL if the
 * endpoint's credential does not expire. `load` must live until the end. */
CHECKED bool credential_renewal_begin(struct load *load, struct credential_renewal **out,
                                      struct error *error);
void credential_renewal_end(struct credential_renewal *renewal); /* does nothing for NULL */
