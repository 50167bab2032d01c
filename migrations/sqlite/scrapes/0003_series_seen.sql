-- No rolled-up value of the series is newer than this. It is set a day ahead, so that it is written only
-- about once a day. 0: no value of the series is rolled up.
ALTER TABLE series ADD COLUMN seen_ms INTEGER NOT NULL DEFAULT 0;
UPDATE series SET seen_ms =
    (SELECT coalesce(max(to_ms), 0) FROM blocks WHERE deployment_id = series.deployment_id);
