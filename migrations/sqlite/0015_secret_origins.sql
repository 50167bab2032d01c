-- Where each secret is allowed to be sent: only to the origins (scheme, host and port) of these URLs.
CREATE TABLE secret_origins (
    secret     TEXT    NOT NULL, -- the secret's name
    url        TEXT    NOT NULL,
    created_ms INTEGER NOT NULL,
    created_by TEXT    NOT NULL,
    PRIMARY KEY (secret, url)
) STRICT, WITHOUT ROWID;

-- The owner of a deployment: the principal who first registered it, until an admin makes another principal the owner.
ALTER TABLE deployments ADD COLUMN owner TEXT NOT NULL DEFAULT '';
UPDATE deployments SET owner = coalesce((SELECT created_by FROM deployment_revisions r
                                         WHERE r.deployment_id = deployments.id AND r.revision = 1), '');

-- If an admin gave a deployment its present URL and secret, the secret can still be sent to that URL. The query looks
-- at who wrote the revision since which the URL and the secret are unchanged. The principal `local` counts as an admin:
-- every caller has this name while there are no API keys. An admin has to allow URLs for all other secrets.
INSERT INTO secret_origins (secret, url, created_ms, created_by)
WITH latest AS (
    SELECT d.id, d.name, r.url, r.secret, (
        SELECT min(s.revision) FROM deployment_revisions s
        WHERE s.deployment_id = d.id AND s.revision > coalesce((
            SELECT max(o.revision) FROM deployment_revisions o
            WHERE o.deployment_id = d.id AND o.revision < d.revision
              AND (o.url <> r.url OR o.secret <> r.secret)), 0)) AS since
    FROM deployments d JOIN deployment_revisions r ON r.deployment_id = d.id AND r.revision = d.revision
    WHERE d.retired_ms IS NULL AND r.secret <> ''
)
SELECT l.secret, l.url, min(s.created_ms), min(s.created_by)
FROM latest l JOIN deployment_revisions s ON s.deployment_id = l.id AND s.revision = l.since
WHERE 'admin' = coalesce((SELECT p.role FROM principals p WHERE p.name = s.created_by),
                         CASE WHEN s.created_by = 'local' THEN 'admin' END)
GROUP BY l.secret, l.url;
