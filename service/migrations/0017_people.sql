-- The people of a tenant. An e-mail is in one tenant only: people log in with nothing else that tells whose they are.
create table tenant_users (
  tenant_id         text not null references tenants on delete cascade,
  id                uuid not null,
  email             text not null,           -- in lower case
  name              text not null,
  role              text not null check (role in ('admin', 'operator', 'viewer')),
  password_hash     text,                    -- argon2id; null until the person has set one
  invitation_hash   bytea,                   -- SHA-256 of what the invitation link holds
  invitation_ends_at timestamptz(3),
  last_login_at     timestamptz(3),
  created_at        timestamptz(3) not null,
  updated_at        timestamptz(3) not null,
  primary key (tenant_id, id)
);
create unique index tenant_users_email on tenant_users (email);
create unique index tenant_users_invitation on tenant_users (invitation_hash) where invitation_hash is not null;
create index tenant_users_newest on tenant_users (tenant_id, created_at desc, id desc);

-- Who is logged in in a browser: the installation's administrator (no tenant, no user) or a person of a tenant.
create table admin_sessions (
  token_hash   bytea primary key,            -- SHA-256 of the cookie
  tenant_id    text,
  user_id      uuid,
  username     text not null,
  created_at   timestamptz(3) not null,
  last_seen_at timestamptz(3) not null,
  ends_at      timestamptz(3) not null,
  check ((tenant_id is null) = (user_id is null)),
  foreign key (tenant_id, user_id) references tenant_users on delete cascade
);
create index admin_sessions_user on admin_sessions (tenant_id, user_id);
create index admin_sessions_end on admin_sessions (ends_at);

-- Logins that failed, or are being looked at, by address; gone after a quarter of an hour.
create table failed_logins (
  id      uuid primary key,
  address text not null,
  at      timestamptz(3) not null
);
create index failed_logins_address on failed_logins (address, at);

-- Who changed what. It outlives what it tells of, so it refers to nothing.
create table audit_log (
  id         uuid primary key,
  tenant_id  text,                           -- null: of the installation
  actor_kind text not null,
  actor      text not null,
  actor_id   uuid,
  action     text not null,
  target_id  text,
  before     jsonb,                          -- without secrets
  after      jsonb,
  created_at timestamptz(3) not null
);
create index audit_log_newest on audit_log (created_at desc, id desc);
create index audit_log_tenant on audit_log (tenant_id, created_at desc, id desc);

-- What supervisors did to live calls.
create table supervisor_actions (
  tenant_id  text not null references tenants on delete cascade,
  id         uuid not null,
  stream_sid text not null,
  call_sid   text not null,
  action     text not null,
  supervisor text,
  target     text,
  reason     text,
  note       text,
  metadata   jsonb not null,
  created_at timestamptz(3) not null,
  primary key (tenant_id, id)
);
create index supervisor_actions_newest on supervisor_actions (created_at desc, id desc);
create index supervisor_actions_tenant on supervisor_actions (tenant_id, created_at desc, id desc);
