-- What else of a deployment decides what is measured, and no server tells.
ALTER TABLE deployment_revisions ADD COLUMN model_revision TEXT NOT NULL DEFAULT '';
ALTER TABLE deployment_revisions ADD COLUMN quantization TEXT NOT NULL DEFAULT '';
ALTER TABLE deployment_revisions ADD COLUMN chips INTEGER NOT NULL DEFAULT 0; -- 0: unknown
