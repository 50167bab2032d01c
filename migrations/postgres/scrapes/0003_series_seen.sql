-- No point of the series that is rolled up is newer; moved on a day at a time. 0: none is.
ALTER TABLE series ADD COLUMN seen_ms BIGINT NOT NULL DEFAULT 0;
