-- Calls that tenants asked for: written before the carrier is asked, and read by whoever finds out what became of one.
create table dials (
  dial_ref    text primary key, -- unguessable: it is in the addresses at which the carrier tells of the call
  tenant_id   text not null references tenants on delete cascade,
  call_log_id uuid not null,
  call_sid    text unique,      -- null until it is known that the carrier took the call
  state       text not null check (state in ('dialing', 'unknown', 'accepted', 'adopted', 'failed')),
  greeting    text,
  created_at  timestamptz(3) not null,
  due_at      timestamptz(3) not null, -- when the next node may look at what became of it
  foreign key (tenant_id, call_log_id) references call_logs on delete cascade
);
create index dials_by_log on dials (tenant_id, call_log_id);
create index dials_due on dials (due_at) where state in ('dialing', 'unknown');

-- The keys by which clients repeat a request without placing a second call.
create table idempotency_keys (
  tenant_id  text not null references tenants on delete cascade,
  key        text not null,
  body_hash  bytea not null,
  -- The key is taken before there is a call, so that of several requests one goes on.
  dial_ref   text not null references dials on delete cascade deferrable initially deferred,
  created_at timestamptz(3) not null,
  primary key (tenant_id, key)
);
create index idempotency_keys_old on idempotency_keys (created_at);
create index idempotency_keys_dial on idempotency_keys (dial_ref);
