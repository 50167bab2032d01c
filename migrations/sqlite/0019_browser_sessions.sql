-- Browsers that signed in with a key. A browser's cookie contains random bytes, of which only the digest is stored
-- here.
CREATE TABLE browser_sessions (
    id           TEXT    PRIMARY KEY, -- brs_..., as in the audit log
    digest       BLOB    NOT NULL UNIQUE,
    key_digest   BLOB    NOT NULL REFERENCES api_keys (digest),
    role         TEXT    NOT NULL, -- the key's role at sign-in; if the key gets a lower role, the session ends
    created_ms   INTEGER NOT NULL,
    last_seen_ms INTEGER NOT NULL
) STRICT;
