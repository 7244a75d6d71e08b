-- By itself, so that no sweep waits for it behind the triggers of the migration before.
-- Hours that were counted before are added up by the next sweeps.
insert into call_day_changes (tenant_id, starts_at)
select distinct tenant_id, date_trunc('day', starts_at, 'UTC') from call_rollups where minutes = 60 and is_whole;
