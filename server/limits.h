/* What one principal may use, so that its flood starves nobody else: requests in a second, and
 * calls that run or wait at once. */
#pragma once

#include <stdbool.h>

#include "base/error.h"

struct exchange;

/* Of a request whose body is read. False: it is answered, with 429. */
bool limits_check_rate(struct exchange *exchange);
/* Takes a place for a call; BUSY says how many there are. Give it back with limits_leave. */
bool limits_enter(struct exchange *exchange, struct error *error);
void limits_leave(struct exchange *exchange);
