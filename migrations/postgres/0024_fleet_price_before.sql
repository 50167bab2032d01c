-- What a managed deployment cost before the newest plan that changes it: it costs that again if its platform refuses the
-- whole plan. NULL: no plan has changed it since this column exists.
ALTER TABLE fleet_managed ADD COLUMN usd_before DOUBLE PRECISION;
