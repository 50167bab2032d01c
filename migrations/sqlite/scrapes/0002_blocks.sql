-- Scraped values, packed by series, at four levels: single scrapes (0), 10 s (1), 1 min (2) and 1 h (3). Packing a
-- scrape and adding it to these levels is called rolling it up. `samples` holds the scrapes that are not rolled up yet,
-- and the last scrape before them.

-- A family consists of all series of a deployment that have the same name. Its id is the id of its first series.
ALTER TABLE series ADD COLUMN family INTEGER NOT NULL DEFAULT 0;
UPDATE series SET family = (SELECT min(id) FROM series s
                            WHERE s.deployment_id = series.deployment_id AND s.name = series.name);
CREATE INDEX series_by_family ON series (deployment_id, family, id);

-- A block holds the values of one deployment at one level for a range of time. To add values, a longer block with a new
-- id replaces the newest block. If that is full, or its span of time is over, a further block begins
-- (store/series/rollup_writer.c).
CREATE TABLE blocks (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    deployment_id INTEGER NOT NULL,
    level         INTEGER NOT NULL,
    from_ms       INTEGER NOT NULL,
    to_ms         INTEGER NOT NULL, -- not included
    data          BLOB    NOT NULL  -- times and ids of families: store/series/block.c
) STRICT;
CREATE INDEX blocks_by_time ON blocks (deployment_id, level, from_ms);
CREATE INDEX blocks_by_age ON blocks (level, to_ms);

-- One row for each family of a block, or several if the family is large. Row n of a block, counted from 0, has the id
-- block * 65536 + n, so that the rows are stored in the order in which they were written.
CREATE TABLE chunks (
    id   INTEGER PRIMARY KEY,
    data BLOB NOT NULL
) STRICT;
CREATE TRIGGER blocks_deleted AFTER DELETE ON blocks BEGIN
    DELETE FROM chunks WHERE id BETWEEN old.id * 65536 AND old.id * 65536 + 65535;
END;

-- The time up to which the scrapes of a deployment are rolled up.
CREATE TABLE compacted (
    deployment_id INTEGER PRIMARY KEY,
    until_ms      INTEGER NOT NULL
) STRICT;
