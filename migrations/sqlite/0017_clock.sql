-- The last time at which the wall clock was trusted, and the time that it has shown since an implausible jump
-- (base/core/timeline.h).
CREATE TABLE clock (
    id           INTEGER PRIMARY KEY CHECK (id = 1),
    seen_ms      INTEGER NOT NULL,
    rival_ms     INTEGER NOT NULL, -- 0: there was no such jump
    rival_ran_ms INTEGER NOT NULL
) STRICT;
INSERT INTO clock SELECT 1, max(at_ms), 0, 0 FROM
    (SELECT max(at_ms) AS at_ms FROM audit UNION ALL SELECT max(created_ms) FROM jobs
     UNION ALL SELECT max(last_seen_ms) FROM sessions UNION ALL SELECT max(last_ms) FROM scrape_targets
     UNION ALL SELECT max(last_used_ms) FROM api_keys) AS newest
    HAVING max(at_ms) IS NOT NULL;
