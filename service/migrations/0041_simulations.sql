-- Calls of agents with callers that are made up, in text: what was asked for.
create table simulations (
  tenant_id        text not null references tenants on delete cascade,
  id               uuid not null,
  name             text,
  agent_id         uuid not null,
  agent_key        text not null,
  agent_name       text not null,
  agent_version_id uuid not null,
  version_number   integer not null,
  config           jsonb not null,            -- of the version, as it was then: a draft may change
  scenarios        jsonb not null,
  repetitions      integer not null,
  pass_threshold   double precision not null,
  is_scored        boolean not null,
  min_score        double precision,
  runs_tools       boolean not null,
  caller_model     text,                      -- null: the agent's own
  status           text not null check (status in ('queued', 'running', 'completed', 'cancelled')),
  pass_rate        double precision,          -- null until it is completed, as is the next
  passed           boolean,
  created_at       timestamptz(3) not null,
  started_at       timestamptz(3),
  completed_at     timestamptz(3),
  primary key (tenant_id, id)
);
create index simulations_newest on simulations (tenant_id, created_at desc, id desc);
create index simulations_passed on simulations (tenant_id, agent_version_id) where passed;

-- One such call: a scenario, once.
create table simulation_runs (
  tenant_id      text not null,
  id             uuid not null,
  simulation_id  uuid not null,
  position       integer not null,            -- in the simulation, from 1
  scenario_index integer not null,
  scenario       text not null,               -- its name
  repetition     integer not null,            -- from 1
  status         text not null check (status in ('pending', 'running', 'passed', 'failed', 'error', 'cancelled')),
  due_at         timestamptz(3) not null,
  attempts       integer not null,
  claim_token    uuid,
  leased_until   timestamptz(3),
  reasons        jsonb not null,
  transcript     jsonb not null,
  function_calls jsonb not null,
  ended_by       text,
  score          double precision,
  criteria       jsonb,
  summary        text,
  slowest_ms     integer,
  input_tokens   integer,
  cached_tokens  integer,
  output_tokens  integer,
  cost_usd       double precision,
  started_at     timestamptz(3),
  ended_at       timestamptz(3),
  created_at     timestamptz(3) not null,
  primary key (tenant_id, id),
  unique (tenant_id, simulation_id, position),
  foreign key (tenant_id, simulation_id) references simulations on delete cascade
);
create index simulation_runs_waiting on simulation_runs (due_at, id) where status in ('pending', 'running');
create index simulation_runs_spent on simulation_runs (tenant_id, ended_at) where cost_usd is not null;

-- Whether a version of the agent is published only when it has passed one.
alter table agents add column require_simulation boolean not null default false;
