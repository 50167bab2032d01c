-- Where each secret may be sent: the origin (scheme, host, port) of these URLs, and nowhere else.
CREATE TABLE secret_origins (
    secret     TEXT COLLATE "C" NOT NULL, -- its name
    url        TEXT COLLATE "C" NOT NULL,
    created_ms BIGINT NOT NULL,
    created_by TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (secret, url)
);

-- Whose a deployment is: who registered it first, until an admin hands it over.
ALTER TABLE deployments ADD COLUMN owner TEXT COLLATE "C" NOT NULL DEFAULT '';
