-- Recipes that admins imported, each revision as it was; the newest of a name is the one in use.
CREATE TABLE recipe_imports (
    name       TEXT    NOT NULL,
    revision   INTEGER NOT NULL,
    document   TEXT    NOT NULL, -- JSON, checked when it was imported
    principal  TEXT    NOT NULL,
    created_ms INTEGER NOT NULL,
    PRIMARY KEY (name, revision)
) STRICT;
