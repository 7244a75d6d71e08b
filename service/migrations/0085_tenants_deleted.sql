-- Since when a tenant is deleted of which rows are left: a big one's go some at a time. Nobody finds it any more, it has no way in, and the
-- row keeps its id from being taken again before all of it is gone. The release before this one sees a tenant without settings.
alter table tenants add column deleted_at timestamptz(3);

-- The release before this one does not know that the id is taken: what it wrote would be deleted with the rest.
create function refuse_deleted_tenant() returns trigger language plpgsql as $$
begin
  raise exception 'the tenant is deleted, and what is left of it is being removed';
end $$;
create trigger tenants_deleted before update on tenants
  for each row when (old.deleted_at is not null) execute function refuse_deleted_tenant();

-- With its tenant, a call goes without a note, and so do hours.
create or replace function note_call_removal() returns trigger language plpgsql as $$
begin
  insert into call_changes (tenant_id, starts_at)
  select old.tenant_id, date_trunc('hour', old.created_at, 'UTC')
   where exists (select from tenants where tenant_id = old.tenant_id and deleted_at is null);
  return null;
end $$;

create or replace function note_day_changes() returns trigger language plpgsql as $$
declare
  day record;
begin
  for day in
    select distinct tenant_id, date_trunc('day', starts_at, 'UTC') as starts_at from hours
     where minutes = 60
       and exists (select from tenants where tenants.tenant_id = hours.tenant_id and tenants.deleted_at is null)
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
