-- How opsbrain gets into a managed deployment's server. JSON: what the provider needs in order to find the server's
-- key, and the address to which opsbrain sends this key; {}: nothing.
ALTER TABLE fleet_managed ADD COLUMN door TEXT NOT NULL DEFAULT '{}';
