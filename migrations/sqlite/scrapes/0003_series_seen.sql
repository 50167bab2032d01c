-- No point of the series that is rolled up is newer; moved on a day at a time. 0: none is.
ALTER TABLE series ADD COLUMN seen_ms INTEGER NOT NULL DEFAULT 0;
UPDATE series SET seen_ms =
    (SELECT coalesce(max(to_ms), 0) FROM blocks WHERE deployment_id = series.deployment_id);
