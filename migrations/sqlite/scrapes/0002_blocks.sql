-- What was scraped, packed by series, at the level of single scrapes (0), 10 s (1), 1 min (2) and
-- 1 h (3). `samples` holds what is not rolled up yet, and the scrape before it.

-- Series of one name lie together: the id of the first of them.
ALTER TABLE series ADD COLUMN family INTEGER NOT NULL DEFAULT 0;
UPDATE series SET family = (SELECT min(id) FROM series s
                            WHERE s.deployment_id = series.deployment_id AND s.name = series.name);
CREATE INDEX series_by_family ON series (deployment_id, family, id);

-- A stretch of time of one deployment at one level. The newest is written anew, under a new id,
-- until it is full.
CREATE TABLE blocks (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    deployment_id INTEGER NOT NULL,
    level         INTEGER NOT NULL,
    from_ms       INTEGER NOT NULL,
    to_ms         INTEGER NOT NULL, -- not included
    data          BLOB    NOT NULL  -- times, and which families: store/block.c
) STRICT;
CREATE INDEX blocks_by_time ON blocks (deployment_id, level, from_ms);
CREATE INDEX blocks_by_age ON blocks (level, to_ms);

-- One row per family of a block: its n-th family has the id block * 65536 + n, so that they lie
-- in the file as they were written.
CREATE TABLE chunks (
    id   INTEGER PRIMARY KEY,
    data BLOB NOT NULL
) STRICT;
CREATE TRIGGER blocks_deleted AFTER DELETE ON blocks BEGIN
    DELETE FROM chunks WHERE id BETWEEN old.id * 65536 AND old.id * 65536 + 65535;
END;

-- How far the scrapes of a deployment are rolled up.
CREATE TABLE compacted (
    deployment_id INTEGER PRIMARY KEY,
    until_ms      INTEGER NOT NULL
) STRICT;
