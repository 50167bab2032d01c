-- When the clock is set back, new scrapes can be earlier than old ones. `epoch` counts how often the clock was set
-- back. The growth of a counter is computed only between scrapes of the same epoch.
ALTER TABLE samples ADD COLUMN epoch BIGINT NOT NULL DEFAULT 0;
ALTER TABLE compacted ADD COLUMN last_ms BIGINT NOT NULL DEFAULT 0; -- the time of the last scrape that was added
ALTER TABLE compacted ADD COLUMN epoch BIGINT NOT NULL DEFAULT 0;   -- the epoch of that scrape
