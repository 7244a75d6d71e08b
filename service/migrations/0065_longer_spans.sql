-- Hours are added up into days of UTC, and into 23 hours from each hour on: of those a day of any zone is made, with what is left of it
-- by hours and quarters. So who asks for days reads a few rows for each, and not as many as there are hours. Whoever only knows hours
-- and quarters neither writes nor reads them.
alter table call_rollups drop constraint call_rollups_minutes_check,
  add constraint call_rollups_minutes_check check (minutes in (15, 60, 1380, 1440)) not valid;
alter table call_outcome_rollups drop constraint call_outcome_rollups_minutes_check,
  add constraint call_outcome_rollups_minutes_check check (minutes in (15, 60, 1380, 1440)) not valid;

-- Days of a tenant of which an hour was counted since they were added up. What they are a part of is read by its hours.
create table call_day_changes (
  tenant_id  text not null references tenants on delete cascade,
  id         bigint generated always as identity,
  starts_at  timestamptz(3) not null, -- the day, in UTC
  changed_at timestamptz(3) not null default now(),
  primary key (tenant_id, starts_at, id)
);
create index call_day_changes_oldest on call_day_changes (changed_at);

-- By triggers, so that also the hours are noticed that the release before this one counts beside it, or takes words out of. Words that
-- leave an hour leave at once what it was added up into. Whoever changes an hour of a tenant, and whoever adds its hours up (who takes this
-- lock alone), wait for each other. Else words that leave an hour of a day would stay in what is being added up of the day before or behind
-- it; and each could wait for rows that the other has.
create function note_day_changes() returns trigger language plpgsql as $$
declare
  day record;
begin
  for day in
    select distinct tenant_id, date_trunc('day', starts_at, 'UTC') as starts_at from hours
     where minutes = 60 and exists (select from tenants where tenants.tenant_id = hours.tenant_id)
     order by 1, 2
  loop
    perform pg_advisory_xact_lock_shared(1684109683, hashtext(day.tenant_id));
    -- A note that is there stays: to add the day up somebody would need the lock.
    insert into call_day_changes (tenant_id, starts_at)
    select day.tenant_id, day.starts_at
     where not exists (select from call_day_changes note
                        where note.tenant_id = day.tenant_id and note.starts_at = day.starts_at);
    if tg_op = 'DELETE' and tg_table_name = 'call_outcome_rollups' then
      delete from call_outcome_rollups
       where tenant_id = day.tenant_id and minutes in (1380, 1440) and is_whole in (true, false)
         and starts_at > day.starts_at - interval '23 hours' and starts_at < day.starts_at + interval '1 day';
    end if;
  end loop;
  return null;
end $$;

create trigger call_rollups_added after insert on call_rollups
  referencing new table as hours for each statement execute function note_day_changes();
create trigger call_rollups_removed after delete on call_rollups
  referencing old table as hours for each statement execute function note_day_changes();
create trigger call_outcome_rollups_added after insert on call_outcome_rollups
  referencing new table as hours for each statement execute function note_day_changes();
create trigger call_outcome_rollups_removed after delete on call_outcome_rollups
  referencing old table as hours for each statement execute function note_day_changes();
