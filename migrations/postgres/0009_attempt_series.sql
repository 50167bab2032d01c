-- What the server's metrics said while an attempt ran: one scrape after the other, as columns.
CREATE TABLE attempt_series (
    attempt_id BIGINT PRIMARY KEY REFERENCES attempts (id),
    scrapes    BIGINT NOT NULL,
    data       BYTEA    NOT NULL -- JSON, zstd; see store/testimony.h
);
