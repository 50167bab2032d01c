-- Where the key to a managed deployment's door is sent, and what its provider finds that key by: bound by the plan that
-- put it up. JSON; {} where nothing was bound.
ALTER TABLE fleet_managed ADD COLUMN door TEXT COLLATE "C" NOT NULL DEFAULT '{}';
