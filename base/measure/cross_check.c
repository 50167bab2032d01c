/* SPDX-License-Identifier: Apache-2.0 */
#include "base/measure/cross_check.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/compress.h"
#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/json/json.h"

void cross_check_finish(struct cross_check *cross_check)
{
    free(cross_check->json);
    free(cross_check->series);
    *cross_check = (struct cross_check){ 0 };
}

void cross_check_set_series(struct cross_check *cross_check, const json_t *columns, int64_t scrapes)
{
    FREE_AUTO char *written = json_write(columns);
    struct error error;
    void *packed;

    if (!compress_bytes(written, strlen(written), &packed, &cross_check->series_length, &error)) {
        log_warning("the scrapes of a cell are not stored: %s", error.message);
        return;
    }
    cross_check->series = packed;
    cross_check->series_scrapes = scrapes;
}
