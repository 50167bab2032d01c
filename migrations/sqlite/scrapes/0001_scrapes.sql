-- Metrics scraped from model servers: a file of their own, so that they never delay the rest.

-- A series is a deployment's metric with its labels, told once.
CREATE TABLE series (
    id            INTEGER PRIMARY KEY,
    deployment_id INTEGER NOT NULL,
    name          TEXT    NOT NULL,
    labels        TEXT    NOT NULL,
    type          TEXT    NOT NULL,
    UNIQUE (deployment_id, name, labels)
) STRICT;

-- One row per scrape: (series id, value) pairs.
CREATE TABLE samples (
    deployment_id INTEGER NOT NULL,
    at_ms         INTEGER NOT NULL,
    data          BLOB    NOT NULL, -- store/scrapes.c
    PRIMARY KEY (deployment_id, at_ms)
) STRICT, WITHOUT ROWID;
CREATE INDEX samples_by_time ON samples (at_ms);
