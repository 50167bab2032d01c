-- What the server's metrics said while an attempt ran: one scrape after the other, as columns.
CREATE TABLE attempt_series (
    attempt_id INTEGER PRIMARY KEY REFERENCES attempts (id),
    scrapes    INTEGER NOT NULL,
    data       BLOB    NOT NULL -- JSON, zstd; see store/testimony.h
) STRICT;
