-- run as: migrator
-- Timers run from pg_cron where it exists. As who migrates, because that is who holds the rights to it.
select capacity.schedule_timers();
