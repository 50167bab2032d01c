-- The scrapes of the model server's metrics during an attempt, stored as columns.
CREATE TABLE attempt_series (
    attempt_id INTEGER PRIMARY KEY REFERENCES attempts (id),
    scrapes    INTEGER NOT NULL,
    data       BLOB    NOT NULL -- JSON, compressed with zstd; see store/ledger/attempt_series.h
) STRICT;
