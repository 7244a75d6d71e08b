-- What tenants are to be told, written in the transaction of what it tells.
create table webhook_outbox (
  id               uuid not null,
  tenant_id        text not null references tenants on delete cascade,
  event            text not null,
  call_sid         text,
  voice_session_id uuid,
  sequence         integer,       -- counts the events of a call from 1; null without one
  body             json not null, -- not jsonb: what was signed once goes out the same again
  status           text not null check (status in ('pending', 'delivered', 'failed')),
  attempts         integer not null,
  due_at           timestamptz(3) not null,
  claim_token      uuid,
  created_at       timestamptz(3) not null,
  primary key (tenant_id, id)
);
create index webhook_outbox_due on webhook_outbox (due_at, id) where status = 'pending';
create index webhook_outbox_newest on webhook_outbox (tenant_id, created_at desc, id desc);
create unique index webhook_outbox_sequence on webhook_outbox (tenant_id, call_sid, sequence);

-- How many events a call has had: a row to count on, which survives the events.
create table webhook_sequences (
  tenant_id text not null references tenants on delete cascade,
  call_sid  text not null,
  sequence  integer not null,
  primary key (tenant_id, call_sid)
);
