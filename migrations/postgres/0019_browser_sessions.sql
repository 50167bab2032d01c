-- Browsers that signed in with a key. Each is recognized by the digest of random bytes, which only its cookie holds.
CREATE TABLE browser_sessions (
    id           TEXT COLLATE "C" PRIMARY KEY, -- brs_..., of the audit log
    digest       BYTEA    NOT NULL UNIQUE,
    key_digest   BYTEA    NOT NULL REFERENCES api_keys (digest),
    role         TEXT COLLATE "C" NOT NULL, -- the key's when it signed in: with a lesser one the session ends
    created_ms   BIGINT NOT NULL,
    last_seen_ms BIGINT NOT NULL
);
