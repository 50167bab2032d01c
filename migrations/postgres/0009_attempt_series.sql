-- The scrapes of the model server's metrics during an attempt, stored as columns.
CREATE TABLE attempt_series (
    attempt_id BIGINT PRIMARY KEY REFERENCES attempts (id),
    scrapes    BIGINT NOT NULL,
    data       BYTEA    NOT NULL -- JSON, compressed with zstd; see store/ledger/attempt_series.h
);
