-- How good conversations were, as the chat model, a person or the records alone say.
create table evaluations (
  tenant_id        text not null,
  id               uuid not null,
  session_id       uuid not null,
  session_ended_at timestamptz(3) not null,  -- that of the session: scores are looked back at by it
  agent_id         uuid,                     -- null when the tenant document's own agent spoke
  agent_key        text,
  agent_version_id uuid,
  source           text not null check (source in ('model', 'human', 'heuristic')),
  score            numeric(5, 4) not null check (score between 0 and 1), -- exact, so that an average is the same in any order
  criteria         jsonb not null,           -- [{name, score, reason}]
  summary          text,
  created_at       timestamptz(3) not null,
  primary key (tenant_id, id),
  foreign key (tenant_id, session_id) references voice_sessions on delete cascade
);
-- A list is newest first under any one filter, so each filter has the order behind it.
create index evaluations_newest on evaluations (tenant_id, created_at desc, id desc);
create index evaluations_by_session on evaluations (tenant_id, session_id, created_at desc, id desc);
create index evaluations_by_agent on evaluations (tenant_id, agent_key, created_at desc, id desc);
create index evaluations_by_version on evaluations (tenant_id, agent_version_id, created_at desc, id desc);
create index evaluations_by_source on evaluations (tenant_id, source, created_at desc, id desc);
-- What a rollout is judged by.
create index evaluations_that_count on evaluations (tenant_id, agent_version_id, session_ended_at) where source <> 'heuristic';
-- The records say the same again.
create unique index evaluations_heuristic_once on evaluations (tenant_id, session_id) where source = 'heuristic';

-- Sessions that ended and are still to be scored.
create table session_scorings (
  tenant_id    text not null,
  session_id   uuid not null,
  ended_at     timestamptz(3) not null,
  due_at       timestamptz(3) not null,
  attempts     integer not null,
  claim_token  uuid,                         -- of whoever scores it: nobody else settles it
  leased_until timestamptz(3),
  primary key (tenant_id, session_id),
  foreign key (tenant_id, session_id) references voice_sessions on delete cascade
);
create index session_scorings_due on session_scorings (due_at);

-- What counts of a session's evaluations, and how far its scoring has come.
alter table voice_sessions
  add column qa        jsonb,
  add column qa_status text check (qa_status in ('pending', 'scored', 'not_scored')),
  add column qa_reason text;
