-- Hours of a tenant in whose calls something has changed since they were counted. Rows are only ever added, one for each change,
-- so that calls do not wait for each other; who counts an hour deletes its rows, in the same transaction.
create table call_changes (
  tenant_id  text not null references tenants on delete cascade,
  id         bigint generated always as identity,
  starts_at  timestamptz(3) not null, -- the hour in which the call was written down, in UTC
  changed_at timestamptz(3) not null default now(),
  primary key (tenant_id, starts_at, id)
);
create index call_changes_oldest on call_changes (changed_at);

-- What the calls that began in a span of time came to. An hour of a tenant is counted as a whole, from the calls as they are, and
-- replaces what was counted before. Spans of 15 minutes serve the time zones whose days do not begin with an hour of UTC.
create table call_rollups (
  tenant_id        text not null references tenants on delete cascade,
  minutes          smallint not null check (minutes in (15, 60)),
  is_whole         boolean not null, -- all calls of the span; else those of one version of an agent
  starts_at        timestamptz(3) not null,
  agent_key        text,             -- null: the tenant document's own agent, or all
  agent_version_id uuid,
  version_number   integer,
  calls            integer not null,
  answered         integer not null,
  completed        integer not null,
  busy             integer not null,
  failed           integer not null,
  no_answer        integer not null,
  canceled         integer not null,
  escalated        integer not null,
  talk_seconds     bigint not null,
  costed           integer not null, -- calls whose cost is known
  cost_usd         numeric not null, -- of those
  interruptions    integer not null,
  scored           integer not null,
  high_quality     integer not null,
  score_sum        numeric not null, -- exact: the same in any order
  -- A histogram in one number, so that to add the numbers is to merge the histograms: ten decimal digits for each of its bins,
  -- the lowest bin last. Null: nobody answered anything.
  response_times   numeric
);
create unique index call_rollups_span on call_rollups
  (tenant_id, minutes, is_whole, starts_at, coalesce(agent_key, ''),
   coalesce(agent_version_id, '00000000-0000-0000-0000-000000000000'));
create index call_rollups_all on call_rollups (minutes, starts_at) where is_whole;

-- The outcomes that agents recorded in those calls.
create table call_outcome_rollups (
  tenant_id        text not null references tenants on delete cascade,
  minutes          smallint not null check (minutes in (15, 60)),
  is_whole         boolean not null,
  starts_at        timestamptz(3) not null,
  agent_key        text,
  agent_version_id uuid,
  outcome          text, -- null: all that are rarer than those that have a row
  calls            integer not null
);
create index call_outcome_rollups_span on call_outcome_rollups (tenant_id, minutes, is_whole, starts_at);
create index call_outcome_rollups_all on call_outcome_rollups (minutes, starts_at) where is_whole;

-- By triggers, so that also what the release before this one writes beside it is counted.
create function note_call_change() returns trigger language plpgsql as $$
begin
  insert into call_changes (tenant_id, starts_at) values (new.tenant_id, date_trunc('hour', new.created_at, 'UTC'));
  return null;
end $$;

-- With its tenant, a call goes without a note.
create function note_call_removal() returns trigger language plpgsql as $$
begin
  insert into call_changes (tenant_id, starts_at)
  select old.tenant_id, date_trunc('hour', old.created_at, 'UTC') where exists (select from tenants where tenant_id = old.tenant_id);
  return null;
end $$;

create function note_session_change() returns trigger language plpgsql as $$
begin
  insert into call_changes (tenant_id, starts_at)
  select tenant_id, date_trunc('hour', created_at, 'UTC')
    from call_logs where tenant_id = new.tenant_id and call_sid = new.call_sid;
  return null;
end $$;

create trigger call_logs_added after insert on call_logs for each row execute function note_call_change();
create trigger call_logs_removed after delete on call_logs for each row execute function note_call_removal();
create trigger call_logs_changed
  after update of status, answered_at, ended_at, duration_seconds, escalated, voice_session_id, agent_key, agent_version_id,
                  version_number on call_logs
  for each row
  when ((old.status, old.answered_at, old.ended_at, old.duration_seconds, old.escalated, old.voice_session_id, old.agent_key,
         old.agent_version_id, old.version_number)
        is distinct from
        (new.status, new.answered_at, new.ended_at, new.duration_seconds, new.escalated, new.voice_session_id, new.agent_key,
         new.agent_version_id, new.version_number))
  execute function note_call_change();
-- What it cost is known once it has ended, by what was used.
create trigger voice_sessions_changed
  after update of latency, usage, ended_at, qa, outcome on voice_sessions
  for each row
  when ((old.latency, old.usage, old.ended_at, old.qa, old.outcome)
        is distinct from (new.latency, new.usage, new.ended_at, new.qa, new.outcome))
  execute function note_session_change();
