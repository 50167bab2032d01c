-- Browsers that signed in with a key. Each is recognized by the digest of random bytes, which only its cookie holds.
CREATE TABLE browser_sessions (
    id           TEXT    PRIMARY KEY, -- brs_..., of the audit log
    digest       BLOB    NOT NULL UNIQUE,
    key_digest   BLOB    NOT NULL REFERENCES api_keys (digest),
    role         TEXT    NOT NULL, -- the key's when it signed in: with a lesser one the session ends
    created_ms   INTEGER NOT NULL,
    last_seen_ms INTEGER NOT NULL
) STRICT;
