-- More facts about a deployment that affect its measurements, and that no server reports.
ALTER TABLE deployment_revisions ADD COLUMN model_revision TEXT NOT NULL DEFAULT '';
ALTER TABLE deployment_revisions ADD COLUMN quantization TEXT NOT NULL DEFAULT '';
ALTER TABLE deployment_revisions ADD COLUMN chips INTEGER NOT NULL DEFAULT 0; -- 0: unknown
