-- Look-up without a tenant: whose call this is, where it lives, and the epoch that writes about it must carry.
create table call_directory (
  call_sid   text primary key,
  tenant_id  text not null references tenants on delete cascade,
  session_id uuid not null,
  owner      uuid,            -- the node that has the call's stream; null before there is one
  epoch      integer not null -- grows when another stream takes the call over
);
create index call_directory_tenant on call_directory (tenant_id);

create table call_logs (
  tenant_id         text not null references tenants on delete cascade,
  id                uuid not null,
  call_sid          text,
  org_id            text,
  direction         text not null check (direction in ('inbound', 'outbound', 'browser')),
  "from"            text not null,
  "to"              text not null,
  status            text not null check (status in ('queued', 'initiated', 'ringing', 'in-progress', 'completed', 'busy',
                                                    'failed', 'no-answer', 'canceled')),
  status_at         timestamptz(3) not null,
  agent_key         text,
  agent_name        text,
  agent_version_id  uuid,
  version_number    integer,
  stream_sid        text,
  voice_session_id  uuid,
  callback_task_id  uuid,
  campaign_id       uuid,
  created_at        timestamptz(3) not null,
  started_at        timestamptz(3) check (started_at >= created_at), -- so that both can bound a list by its order
  answered_at       timestamptz(3),
  ended_at          timestamptz(3),
  duration_seconds  integer,
  answered_by       text,
  escalated         boolean not null,
  escalation_target text,
  summary           text,
  error_code        text,
  error_message     text,
  metadata          jsonb not null,
  primary key (tenant_id, id),
  unique (tenant_id, call_sid)
);
-- A list is newest first under any one filter, so each filter has the order behind it.
create index call_logs_newest on call_logs (tenant_id, created_at desc, id desc);
create index call_logs_by_status on call_logs (tenant_id, status, created_at desc, id desc);
create index call_logs_by_direction on call_logs (tenant_id, direction, created_at desc, id desc);
create index call_logs_by_agent on call_logs (tenant_id, agent_key, created_at desc, id desc);
create index call_logs_by_from on call_logs (tenant_id, "from", created_at desc, id desc);
create index call_logs_by_to on call_logs (tenant_id, "to", created_at desc, id desc);

create table voice_sessions (
  tenant_id             text not null references tenants on delete cascade,
  id                    uuid not null,
  call_sid              text not null,
  stream_sid            text,
  org_id                text,
  direction             text not null check (direction in ('inbound', 'outbound', 'browser')),
  "from"                text not null,
  "to"                  text not null,
  call_status           text not null, -- that of the call log, kept here to filter by
  agent_key             text,
  agent_name            text,
  agent_version_id      uuid,
  version_number        integer,
  model                 text,
  voice                 text,
  audio_output_provider text not null check (audio_output_provider in ('primary', 'secondary')),
  created_at            timestamptz(3) not null,
  started_at            timestamptz(3) check (started_at >= created_at),
  ended_at              timestamptz(3),
  duration_seconds      integer,
  end_reason            text check (end_reason in ('caller_hangup', 'agent_hangup', 'supervisor', 'transferred',
                                                   'idle_timeout', 'max_duration', 'carrier_lost', 'model_lost',
                                                   'process_lost', 'voicemail', 'rejected', 'shutdown')),
  resumed_count         integer not null,
  latency               jsonb not null,
  usage                 jsonb not null,
  tags                  text[] not null,
  outcome               text,
  outcome_notes         text,
  metadata              jsonb not null,
  primary key (tenant_id, id),
  unique (tenant_id, call_sid)
);
create index voice_sessions_newest on voice_sessions (tenant_id, created_at desc, id desc);
create index voice_sessions_by_status on voice_sessions (tenant_id, call_status, created_at desc, id desc);
create index voice_sessions_by_direction on voice_sessions (tenant_id, direction, created_at desc, id desc);
create index voice_sessions_by_agent on voice_sessions (tenant_id, agent_key, created_at desc, id desc);
create index voice_sessions_by_from on voice_sessions (tenant_id, "from", created_at desc, id desc);
create index voice_sessions_by_to on voice_sessions (tenant_id, "to", created_at desc, id desc);
create index voice_sessions_by_end_reason on voice_sessions (tenant_id, end_reason, created_at desc, id desc);
create index voice_sessions_tags on voice_sessions using gin (tags);

create table transcript_turns (
  tenant_id   text not null,
  session_id  uuid not null,
  item_id     text not null,
  seq         integer not null,
  role        text not null check (role in ('caller', 'agent', 'system', 'supervisor')),
  text        text not null,
  unheard     text not null,
  start_ms    integer not null,
  end_ms      integer not null,
  interrupted boolean not null,
  sent_ms     integer,
  heard_ms    integer,
  -- No stemming: callers speak any language, and a session does not say which.
  search      tsvector not null generated always as (to_tsvector('simple', text)) stored,
  primary key (tenant_id, session_id, item_id),
  foreign key (tenant_id, session_id) references voice_sessions on delete cascade
);
create index transcript_turns_search on transcript_turns using gin (search);

create table function_calls (
  tenant_id   text not null,
  session_id  uuid not null,
  call_id     text not null,
  seq         integer not null,
  name        text not null,
  arguments   text not null, -- as the model wrote them, which need not be JSON
  result      text not null, -- as the model was told
  status      text not null check (status in ('ok', 'error', 'timeout')),
  start_ms    integer not null,
  duration_ms integer not null,
  primary key (tenant_id, session_id, call_id),
  foreign key (tenant_id, session_id) references voice_sessions on delete cascade
);
