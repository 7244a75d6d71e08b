create table agents (
  tenant_id   text not null references tenants on delete cascade,
  id          uuid not null,
  agent_key   text not null,
  name        text not null,
  description text not null,
  created_at  timestamptz(3) not null,
  updated_at  timestamptz(3) not null,
  primary key (tenant_id, id),
  unique (tenant_id, agent_key)
);
create index agents_newest on agents (tenant_id, created_at desc, id desc);

create table agent_versions (
  tenant_id      text not null,
  id             uuid not null,
  agent_id       uuid not null,
  version_number integer not null,
  status         text not null check (status in ('draft', 'published', 'superseded')),
  config         jsonb not null,
  created_at     timestamptz(3) not null,
  updated_at     timestamptz(3) not null,
  published_at   timestamptz(3),
  primary key (tenant_id, id),
  unique (tenant_id, agent_id, version_number),
  foreign key (tenant_id, agent_id) references agents on delete cascade
);
create index agent_versions_newest on agent_versions (tenant_id, created_at desc, id desc);
create index agent_versions_of_agent on agent_versions (tenant_id, agent_id, created_at desc, id desc);
-- The rule that an agent speaks with one published version at a time is the database's to keep.
create unique index agent_versions_published on agent_versions (tenant_id, agent_id) where status = 'published';
