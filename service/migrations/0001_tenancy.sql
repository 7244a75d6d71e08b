-- The processes that share this database. One row each, its heartbeat renewed every second.
create table nodes (
  node_id      uuid primary key,
  started_at   timestamptz(3) not null default now(),
  heartbeat_at timestamptz(3) not null default now(),
  version      text not null
);

-- What this installation has done once and must not do again, such as making the demo tenant.
create table installation_marks (
  mark    text primary key,
  made_at timestamptz(3) not null default now()
);

-- Tenants are few and looked up by everything: a reference table where the others are distributed by tenant_id.
create table tenants (
  tenant_id       text primary key check (tenant_id ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
  document        jsonb not null,          -- its secrets sealed in place
  etag            text not null,
  auth_token_hash bytea,                   -- of the legacy raw bearer token
  created_at      timestamptz(3) not null,
  updated_at      timestamptz(3) not null
);
create index tenants_newest on tenants (created_at desc, tenant_id desc);
-- Partial, so that no foreign key can use it: a new token then locks its row no harder than any other update does, and
-- what refers to the tenant need not wait.
create unique index tenants_auth_token on tenants (auth_token_hash) where auth_token_hash is not null;

create table api_keys (
  tenant_id    text not null references tenants on delete cascade,
  id           uuid not null,
  key_prefix   text not null,
  label        text not null,
  secret_hash  bytea not null,
  created_at   timestamptz(3) not null,
  last_used_at timestamptz(3),
  revoked_at   timestamptz(3),
  primary key (tenant_id, id)
);
create index api_keys_newest on api_keys (tenant_id, created_at desc, id desc);

-- Look-up without a tenant: which tenant's key starts like this.
create table api_key_prefixes (
  key_prefix text primary key,
  tenant_id  text not null references tenants on delete cascade,
  key_id     uuid not null
);
create index api_key_prefixes_tenant on api_key_prefixes (tenant_id);

-- Look-up without a tenant: who holds this number. Both flags may be set; when neither is, the row goes.
create table phone_numbers (
  phone_number text primary key,
  tenant_id    text not null references tenants on delete cascade,
  by_document  boolean not null, -- named by the tenant document's telephony.from_number
  by_route     boolean not null  -- named by a phone route
);
create index phone_numbers_tenant on phone_numbers (tenant_id);
