/* SPDX-License-Identifier: Apache-2.0 */
/* The id of this database, and the place where it is used (server/program/fleet_place.h). */
#include <string.h>

#include "store/fleet/fleet_managed.h"
#include "store/ledger/store_private.h"

struct settling {
    const char *place;
    bool overwrites; /* replaces a place that is already recorded */
    char id[ID_SIZE], recorded[2 * DIGEST_TEXT_SIZE];
};

static CHECKED bool apply_settle(struct sql_connection *connection, void *context,
                                 struct error *error)
{
    static const char KEEP[] =
        "INSERT INTO fleet_instance (\"only\", id, place) VALUES (1, ?1, ?2) "
        "ON CONFLICT (\"only\") DO UPDATE SET place = CASE WHEN ?3 <> 0 OR fleet_instance.place = "
        "'' THEN excluded.place "
        "ELSE fleet_instance.place END "
        "RETURNING id, place";
    struct settling *settling = context;
    char fresh[ID_SIZE];
    SQL_AUTO sql = sql_begin(connection, KEEP);

    random_id("ins", fresh);
    sql_bind_text(&sql, 1, fresh);
    sql_bind_text(&sql, 2, settling->place);
    sql_bind_integer(&sql, 3, settling->overwrites);
    if (sql_step(&sql, error) != SQL_ROW)
        return false;
    sql_text(&sql, 0, settling->id, sizeof settling->id);
    sql_text(&sql, 1, settling->recorded, sizeof settling->recorded);
    return true;
}

bool fleet_instance_read(struct store *store, const char *place, struct fleet_instance *out,
                         struct error *error)
{
    struct settling settling = { .place = place };

    if (!database_write(store->main, apply_settle, &settling, error))
        return false;
    text_copy(out->id, sizeof out->id, settling.id);
    out->moved = strstr(settling.recorded, place) == NULL;
    return true;
}

bool fleet_instance_settle(struct store *store, const char *place, struct change *change,
                           struct error *error)
{
    struct settling settling = { .place = place, .overwrites = true };

    return store_change(store, change, apply_settle, &settling, "", "", error);
}
