-- Which versions of an agent answer a share of its calls; what none of them answers is the published version's.
create table agent_version_rollouts (
  tenant_id          text not null,
  id                 uuid not null,
  agent_id           uuid not null,
  agent_version_id   uuid not null,
  position           integer not null,        -- from 0; the order in which shares are laid side by side
  traffic_percentage numeric(5, 2) not null check (traffic_percentage between 0 and 100),
  created_at         timestamptz(3) not null,
  updated_at         timestamptz(3) not null,
  primary key (tenant_id, id),
  unique (tenant_id, agent_id, position),
  unique (tenant_id, agent_version_id),
  foreign key (tenant_id, agent_id) references agents on delete cascade,
  foreign key (tenant_id, agent_version_id) references agent_versions on delete cascade
);

-- When a version that does badly loses its share.
create table rollout_policies (
  tenant_id             text not null,
  agent_id              uuid not null,
  enabled               boolean not null,
  lookback_hours        integer not null,
  min_avg_score         double precision not null,
  min_eval_count        integer not null,
  min_high_quality_rate double precision not null,
  created_at            timestamptz(3) not null,
  updated_at            timestamptz(3) not null,
  primary key (tenant_id, agent_id),
  foreign key (tenant_id, agent_id) references agents on delete cascade
);

-- Texts that tenants' documents name by key. They are the installation's, not a tenant's.
create table prompts (
  prompt_key  text primary key,
  id          uuid not null unique,
  text        text not null,
  description text not null,
  created_at  timestamptz(3) not null,
  updated_at  timestamptz(3) not null
);
create index prompts_newest on prompts (created_at desc, id desc);

-- Said first in a call in place of what its agent would say; null for the agent's own.
alter table voice_sessions add column greeting text;

-- Who asked to become a tenant. Nobody's data yet, so no tenant_id.
create table access_requests (
  id                       uuid primary key,
  status                   text not null check (status in ('open', 'approved', 'rejected', 'spam')),
  company_name             text not null,
  contact_name             text not null,
  work_email               text not null,
  use_case                 text not null,
  phone                    text not null,
  role                     text not null,
  timeline                 text not null,
  website                  text not null,
  expected_monthly_minutes text not null,
  source                   text not null,
  remote_addr              text not null,
  user_agent               text not null,
  metadata                 jsonb not null,
  created_at               timestamptz(3) not null,
  reviewed_at              timestamptz(3)
);
create index access_requests_newest on access_requests (created_at desc, id desc);
create index access_requests_of_status on access_requests (status, created_at desc, id desc);
