-- Targets: where admins allow model servers to be deployed. A target is never deleted, only retired; every change adds
-- a new revision.
CREATE TABLE fleet_targets (
    name       TEXT COLLATE "C" PRIMARY KEY,
    revision   BIGINT NOT NULL,
    retired_ms BIGINT
);

CREATE TABLE fleet_target_revisions (
    target              TEXT COLLATE "C" NOT NULL REFERENCES fleet_targets (name),
    revision            BIGINT NOT NULL,
    provider            TEXT COLLATE "C" NOT NULL,
    place               TEXT COLLATE "C" NOT NULL, -- JSON: what only the provider uses, such as project, cluster, namespace
    regions             TEXT COLLATE "C" NOT NULL, -- JSON array: regions or zones; []: the provider has none
    source_ranges       TEXT COLLATE "C" NOT NULL, -- JSON array: the CIDR ranges that are allowed to call the servers
    credential          TEXT COLLATE "C" NOT NULL, -- the kind of credential
    credential_file     TEXT COLLATE "C" NOT NULL, -- the file's name in the secrets folder, never a path or a value
    proxy               TEXT COLLATE "C" NOT NULL,
    recipes             TEXT COLLATE "C" NOT NULL, -- JSON array of names; []: every recipe of the provider
    deployment_usd      DOUBLE PRECISION    NOT NULL, -- maximum per hour for one deployment; 0: only what costs nothing
    total_usd           DOUBLE PRECISION    NOT NULL, -- maximum per hour for all deployments together; 0: as above
    life_limit_s        BIGINT NOT NULL, -- 0: no limit
    allows_no_price     BIGINT NOT NULL, -- 1: the cost of a deployment can be unknown
    allows_no_end       BIGINT NOT NULL, -- 1: a deployment can have no end
    allows_no_guard     BIGINT NOT NULL, -- 1: the end of a deployment can depend on opsbrain alone
    needs_two           BIGINT NOT NULL, -- 1: two people must approve a plan
    agent_usd           DOUBLE PRECISION    NOT NULL, -- maximum per hour that an agent can approve alone; 0: only stopping and destroying
    agent_life_usd      DOUBLE PRECISION    NOT NULL, -- the same, for a deployment's whole life
    created_ms          BIGINT NOT NULL,
    created_by          TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (target, revision)
);

-- Plans to change deployments, request by request, exactly as they were shown. An approval is for a plan's digest.
CREATE TABLE fleet_plans (
    id              TEXT COLLATE "C" PRIMARY KEY, -- pln_...
    digest          TEXT COLLATE "C" NOT NULL,
    verb            TEXT COLLATE "C" NOT NULL,
    deployment      TEXT COLLATE "C" NOT NULL,
    target          TEXT COLLATE "C" NOT NULL,
    target_revision BIGINT NOT NULL,
    document        TEXT COLLATE "C" NOT NULL, -- JSON: wanted state, recipe, observed state, price, requests
    usd_known       BIGINT NOT NULL,
    usd_per_hour    DOUBLE PRECISION    NOT NULL, -- of the deployment once the plan is carried out
    ends_ms         BIGINT NOT NULL, -- when the deployment ends; 0: never
    at_end          TEXT COLLATE "C" NOT NULL CHECK (at_end IN ('', 'stop', 'destroy')),
    state           TEXT COLLATE "C" NOT NULL CHECK (state IN ('planned', 'applying', 'done', 'failed', 'cancelled')),
    reason          TEXT COLLATE "C" NOT NULL,
    job_id          TEXT COLLATE "C", -- NULL: the plan has not begun
    principal       TEXT COLLATE "C" NOT NULL,
    created_ms      BIGINT NOT NULL,
    good_until_ms   BIGINT NOT NULL,
    finished_ms     BIGINT
);
CREATE INDEX fleet_plans_by_time ON fleet_plans (created_ms, id);
CREATE UNIQUE INDEX fleet_plans_applying ON fleet_plans (deployment) WHERE state = 'applying'; -- only one at a time

CREATE TABLE fleet_approvals (
    plan_id    TEXT COLLATE "C" NOT NULL REFERENCES fleet_plans (id),
    principal  TEXT COLLATE "C" NOT NULL,
    way        TEXT COLLATE "C" NOT NULL CHECK (way IN ('person', 'command line', 'agent')),
    client     TEXT COLLATE "C" NOT NULL,
    created_ms BIGINT NOT NULL,
    PRIMARY KEY (plan_id, principal, way)
);

-- One row is written before each request of a plan and one after it. A process that takes over after a crash reads
-- these rows to see what was done.
CREATE TABLE fleet_journal (
    plan_id  TEXT COLLATE "C" NOT NULL REFERENCES fleet_plans (id),
    sequence BIGINT NOT NULL,
    step     TEXT COLLATE "C" NOT NULL,
    action   TEXT COLLATE "C" NOT NULL CHECK (action IN ('do', 'poll', 'undo')),
    outcome  TEXT COLLATE "C" NOT NULL, -- '' before the request
    poll_url TEXT COLLATE "C" NOT NULL, -- where to poll for the result
    detail   TEXT COLLATE "C" NOT NULL, -- the provider's message
    at_ms    BIGINT NOT NULL,
    PRIMARY KEY (plan_id, sequence)
);

-- Deployments whose servers opsbrain created or adopted: their wanted and their last observed state.
CREATE TABLE fleet_managed (
    id            TEXT COLLATE "C" PRIMARY KEY, -- mng_...
    deployment    TEXT COLLATE "C" NOT NULL,
    target        TEXT COLLATE "C" NOT NULL REFERENCES fleet_targets (name),
    plan_id       TEXT COLLATE "C" NOT NULL, -- the last plan begun for it
    state         TEXT COLLATE "C" NOT NULL CHECK (state IN ('creating', 'running', 'stopped', 'failed', 'gone')),
    rights        TEXT COLLATE "C" NOT NULL CHECK (rights IN ('created', 'adopted', 'watched')),
    wish          TEXT COLLATE "C" NOT NULL, -- JSON: the wanted state: recipe, overrides, region, replicas
    usd_known     BIGINT NOT NULL,
    usd_per_hour  DOUBLE PRECISION    NOT NULL,
    ends_ms       BIGINT NOT NULL, -- 0: none
    at_end        TEXT COLLATE "C" NOT NULL,
    warned        BIGINT NOT NULL DEFAULT 0, -- last warning about its end: 1: an hour before; 2: ten minutes before
    observed      TEXT COLLATE "C" NOT NULL DEFAULT '{}', -- JSON
    observed_ms   BIGINT NOT NULL DEFAULT 0,
    problem       TEXT COLLATE "C" NOT NULL DEFAULT '',
    baseline      TEXT COLLATE "C" NOT NULL DEFAULT '{}', -- JSON: fields observed after the last plan, to detect drift
    spent_usd     DOUBLE PRECISION    NOT NULL DEFAULT 0,
    spent_ms      BIGINT NOT NULL DEFAULT 0, -- spent_usd is the cost up to this time
    created_ms    BIGINT NOT NULL,
    created_by    TEXT COLLATE "C" NOT NULL,
    ended_ms      BIGINT
);
CREATE UNIQUE INDEX fleet_managed_by_name ON fleet_managed (deployment) WHERE state <> 'gone';

-- Which database this is. The id is a label on every resource that opsbrain creates. A copy of the database is
-- recognized because it is not used at the recorded place.
CREATE TABLE fleet_instance (
    "only" BIGINT PRIMARY KEY CHECK ("only" = 1),
    id    TEXT COLLATE "C" NOT NULL,
    place TEXT COLLATE "C" NOT NULL -- '' until a process records it
);
