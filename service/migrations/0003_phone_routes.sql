create table phone_routes (
  tenant_id        text not null references tenants on delete cascade,
  id               uuid not null,
  phone_number     text not null,
  agent_key        text not null,
  label            text not null,
  inbound_enabled  boolean not null,
  outbound_default boolean not null,
  created_at       timestamptz(3) not null,
  updated_at       timestamptz(3) not null,
  primary key (tenant_id, id),
  unique (tenant_id, phone_number),
  foreign key (tenant_id, agent_key) references agents (tenant_id, agent_key)
);
create index phone_routes_newest on phone_routes (tenant_id, created_at desc, id desc);
-- A tenant's outbound calls have one number to come from.
create unique index phone_routes_outbound on phone_routes (tenant_id) where outbound_default;
