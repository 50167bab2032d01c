-- Where model servers may be put up, as admins said. A target is never deleted, only retired; every change is a new revision.
CREATE TABLE fleet_targets (
    name       TEXT    PRIMARY KEY,
    revision   INTEGER NOT NULL,
    retired_ms INTEGER
) STRICT;

CREATE TABLE fleet_target_revisions (
    target              TEXT    NOT NULL REFERENCES fleet_targets (name),
    revision            INTEGER NOT NULL,
    provider            TEXT    NOT NULL,
    place               TEXT    NOT NULL, -- JSON: what only the provider reads, such as project, cluster, namespace
    regions             TEXT    NOT NULL, -- JSON array: regions or zones; [] where the provider has none
    source_ranges       TEXT    NOT NULL, -- JSON array of CIDR ranges that may call what is deployed
    credential          TEXT    NOT NULL, -- its kind
    credential_file     TEXT    NOT NULL, -- its name in the secrets folder, never a path or a value
    proxy               TEXT    NOT NULL,
    recipes             TEXT    NOT NULL, -- JSON array of names; []: every recipe of the provider
    deployment_usd      REAL    NOT NULL, -- per hour, of one deployment at most; 0: only what costs nothing
    total_usd           REAL    NOT NULL, -- per hour, of all together at most; the same
    life_limit_s        INTEGER NOT NULL, -- 0: no limit
    allows_no_price     INTEGER NOT NULL, -- the cost of a deployment may be unknown
    allows_no_end       INTEGER NOT NULL, -- a deployment may have no end
    allows_no_guard     INTEGER NOT NULL, -- nothing but opsbrain may end it
    needs_two           INTEGER NOT NULL, -- two people must agree
    agent_usd           REAL    NOT NULL, -- per hour, that an agent may approve alone; 0: nothing
    agent_life_usd      REAL    NOT NULL, -- the same for a whole life
    created_ms          INTEGER NOT NULL,
    created_by          TEXT    NOT NULL,
    PRIMARY KEY (target, revision)
) STRICT;

-- What would be done, request by request, as it was shown. Its digest is what a go-ahead is given to.
CREATE TABLE fleet_plans (
    id              TEXT    PRIMARY KEY, -- pln_...
    digest          TEXT    NOT NULL,
    verb            TEXT    NOT NULL,
    deployment      TEXT    NOT NULL,
    target          TEXT    NOT NULL,
    target_revision INTEGER NOT NULL,
    document        TEXT    NOT NULL, -- JSON: wishes, recipe, observed state, price, requests
    usd_known       INTEGER NOT NULL,
    usd_per_hour    REAL    NOT NULL, -- of the deployment once the plan is carried out
    ends_ms         INTEGER NOT NULL, -- of the deployment; 0: none
    at_end          TEXT    NOT NULL CHECK (at_end IN ('', 'stop', 'destroy')),
    state           TEXT    NOT NULL CHECK (state IN ('planned', 'applying', 'done', 'failed', 'cancelled')),
    reason          TEXT    NOT NULL,
    job_id          TEXT, -- NULL: not begun
    principal       TEXT    NOT NULL,
    created_ms      INTEGER NOT NULL,
    good_until_ms   INTEGER NOT NULL,
    finished_ms     INTEGER
) STRICT;
CREATE INDEX fleet_plans_by_time ON fleet_plans (created_ms, id);
CREATE UNIQUE INDEX fleet_plans_applying ON fleet_plans (deployment) WHERE state = 'applying'; -- one at a time

CREATE TABLE fleet_approvals (
    plan_id    TEXT    NOT NULL REFERENCES fleet_plans (id),
    principal  TEXT    NOT NULL,
    way        TEXT    NOT NULL CHECK (way IN ('person', 'command line', 'agent')),
    client     TEXT    NOT NULL,
    created_ms INTEGER NOT NULL,
    PRIMARY KEY (plan_id, principal, way)
) STRICT;

-- One row before each request of a plan and one after it: what a process that takes over after a crash goes by.
CREATE TABLE fleet_journal (
    plan_id  TEXT    NOT NULL REFERENCES fleet_plans (id),
    sequence INTEGER NOT NULL,
    step     TEXT    NOT NULL,
    action   TEXT    NOT NULL CHECK (action IN ('do', 'poll', 'undo')),
    outcome  TEXT    NOT NULL, -- '' before the request
    poll_url TEXT    NOT NULL, -- where to look again
    detail   TEXT    NOT NULL, -- the provider's words
    at_ms    INTEGER NOT NULL,
    PRIMARY KEY (plan_id, sequence)
) STRICT;

-- Deployments whose server opsbrain put up, or took over: what is wanted, and what was seen last.
CREATE TABLE fleet_managed (
    id            TEXT    PRIMARY KEY, -- mng_...
    deployment    TEXT    NOT NULL,
    target        TEXT    NOT NULL REFERENCES fleet_targets (name),
    plan_id       TEXT    NOT NULL, -- the newest that changed it
    state         TEXT    NOT NULL CHECK (state IN ('creating', 'running', 'stopped', 'failed', 'gone')),
    rights        TEXT    NOT NULL CHECK (rights IN ('created', 'adopted', 'watched')),
    wish          TEXT    NOT NULL, -- JSON: recipe, overrides, region, replicas
    usd_known     INTEGER NOT NULL,
    usd_per_hour  REAL    NOT NULL,
    ends_ms       INTEGER NOT NULL, -- 0: none
    at_end        TEXT    NOT NULL,
    warned        INTEGER NOT NULL DEFAULT 0, -- of its end: 1 an hour before, 2 ten minutes before
    observed      TEXT    NOT NULL DEFAULT '{}', -- JSON
    observed_ms   INTEGER NOT NULL DEFAULT 0,
    problem       TEXT    NOT NULL DEFAULT '',
    baseline      TEXT    NOT NULL DEFAULT '{}', -- JSON: its fields when a plan last made them, for drift
    spent_usd     REAL    NOT NULL DEFAULT 0,
    spent_ms      INTEGER NOT NULL DEFAULT 0, -- counted up to here
    created_ms    INTEGER NOT NULL,
    created_by    TEXT    NOT NULL,
    ended_ms      INTEGER
) STRICT;
CREATE UNIQUE INDEX fleet_managed_by_name ON fleet_managed (deployment) WHERE state <> 'gone';

-- Which database this is: the id is on every resource. A copy is recognized by its place.
CREATE TABLE fleet_instance (
    only  INTEGER PRIMARY KEY CHECK (only = 1),
    id    TEXT    NOT NULL,
    place TEXT    NOT NULL -- '' until a process first recorded it
) STRICT;
