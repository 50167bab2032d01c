-- Recipes that admins imported, each revision as it was; the newest of a name is the one in use.
CREATE TABLE recipe_imports (
    name       TEXT COLLATE "C" NOT NULL,
    revision   BIGINT NOT NULL,
    document   TEXT COLLATE "C" NOT NULL, -- JSON, checked when it was imported
    principal  TEXT COLLATE "C" NOT NULL,
    created_ms BIGINT NOT NULL,
    PRIMARY KEY (name, revision)
);
