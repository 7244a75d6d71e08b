-- When the call is to be asked for next; null once nothing more can come of it. The default is for the version before this
-- one, which does not say.
alter table call_directory add column look_at timestamptz(3);
alter table call_directory alter column look_at set default now() + interval '5 minutes';
-- How often in a row the carrier could not be asked.
alter table call_directory add column look_tries integer not null default 0;
-- A node that took the call from a dead one brings it back until then; from then on another one may. Null: nobody has to.
alter table call_directory add column rescue_at timestamptz(3);

update call_directory
   set look_at = now()
  from call_logs log, voice_sessions session
 where log.tenant_id = call_directory.tenant_id and log.call_sid = call_directory.call_sid
   and session.tenant_id = call_directory.tenant_id and session.id = call_directory.session_id
   and (log.status in ('queued', 'initiated', 'ringing', 'in-progress') or session.ended_at is null);

create index call_directory_due on call_directory (look_at) where look_at is not null;
create index call_directory_open_owner on call_directory (owner) where look_at is not null;
create index call_directory_rescue on call_directory (rescue_at) where rescue_at is not null;

-- It ends its calls and takes no more: no other node hands its own over to it.
alter table nodes add column stopping boolean not null default false;
