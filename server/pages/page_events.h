/* SPDX-License-Identifier: Apache-2.0 */
/* GET /events: a stream for an open tab; its events only name what changed. */
#pragma once

struct exchange;

void page_events_serve(struct exchange *exchange);
