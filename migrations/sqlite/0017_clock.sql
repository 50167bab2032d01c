-- The wall clock is trusted until it makes an implausible jump (base/core/timeline.h).
CREATE TABLE clock (
    id           INTEGER PRIMARY KEY CHECK (id = 1),
    seen_ms      INTEGER NOT NULL, -- the last time that was trusted
    rival_ms     INTEGER NOT NULL, -- the time that the clock has shown since such a jump; 0: it is trusted
    rival_ran_ms INTEGER NOT NULL  -- how long the clock has run steadily since the jump
) STRICT;
INSERT INTO clock SELECT 1, max(at_ms), 0, 0 FROM
    (SELECT max(at_ms) AS at_ms FROM audit UNION ALL SELECT max(created_ms) FROM jobs
     UNION ALL SELECT max(last_seen_ms) FROM sessions UNION ALL SELECT max(last_ms) FROM scrape_targets
     UNION ALL SELECT max(last_used_ms) FROM api_keys) AS newest
    HAVING max(at_ms) IS NOT NULL;
