-- A clock that is set back lets time go over what was scraped already. `epoch` counts how often it was: growth is only
-- counted between scrapes of one epoch.
ALTER TABLE samples ADD COLUMN epoch BIGINT NOT NULL DEFAULT 0;
ALTER TABLE compacted ADD COLUMN last_ms BIGINT NOT NULL DEFAULT 0; -- the time of the last scrape that came
ALTER TABLE compacted ADD COLUMN epoch BIGINT NOT NULL DEFAULT 0;   -- and its epoch
