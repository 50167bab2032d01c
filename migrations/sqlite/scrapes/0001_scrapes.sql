-- Metrics scraped from model servers. They are in a separate file, so that other writes do not wait for theirs.

-- A series is a metric of a deployment, with its labels.
CREATE TABLE series (
    id            INTEGER PRIMARY KEY,
    deployment_id INTEGER NOT NULL,
    name          TEXT    NOT NULL,
    labels        TEXT    NOT NULL,
    type          TEXT    NOT NULL,
    UNIQUE (deployment_id, name, labels)
) STRICT;

-- One row per scrape. `data` holds pairs of a series id and a value.
CREATE TABLE samples (
    deployment_id INTEGER NOT NULL,
    at_ms         INTEGER NOT NULL,
    data          BLOB    NOT NULL, -- see store/series/samples.h
    PRIMARY KEY (deployment_id, at_ms)
) STRICT, WITHOUT ROWID;
CREATE INDEX samples_by_time ON samples (at_ms);
