-- No rolled-up value of the series is newer than this. It is set a day ahead, so that it is written only
-- about once a day. 0: no value of the series is rolled up.
ALTER TABLE series ADD COLUMN seen_ms BIGINT NOT NULL DEFAULT 0;
