-- The hourly price of a managed deployment before its newest plan began. The price is restored if that plan changed
-- nothing, because the platform refused it. NULL: no plan to change the deployment has begun since this column was
-- added.
ALTER TABLE fleet_managed ADD COLUMN usd_before DOUBLE PRECISION;
