-- JSON: what a provider needs in order to find the key of a managed deployment's server, and the address to which that
-- key is sent; {}: nothing.
ALTER TABLE fleet_managed ADD COLUMN door TEXT NOT NULL DEFAULT '{}';
