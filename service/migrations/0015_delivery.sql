-- What an attempt to deliver leaves behind, and who is at it. `claim_token` is new with each claim: only its holder settles.
alter table webhook_outbox
  add column leased_until     timestamptz(3),                 -- by the database's clock: nobody else takes the row before
  add column attempts_before  integer not null default 0,     -- at the last redelivery, from which the schedule counts
  add column url              text,                           -- of the last attempt
  add column last_status_code integer,
  add column last_error       text,
  add column delivered_at     timestamptz(3),
  add column attempt_log      jsonb not null default '[]';    -- the last 20: {at, status_code, error, duration_ms}
create index webhook_outbox_turns on webhook_outbox (tenant_id, due_at, sequence, id) where status = 'pending';
create index webhook_outbox_by_status on webhook_outbox (tenant_id, status, created_at desc, id desc);
create index webhook_outbox_by_event on webhook_outbox (tenant_id, event, created_at desc, id desc);

-- What calls cost, for the operator's billing. It goes out although its tenant was deleted meanwhile: no foreign key.
create table billing_outbox (
  id               uuid not null,
  tenant_id        text not null,
  event            text not null,
  call_sid         text,
  voice_session_id uuid,
  sequence         integer,
  body             json not null,
  status           text not null check (status in ('pending', 'delivered', 'failed')),
  attempts         integer not null,
  due_at           timestamptz(3) not null,
  claim_token      uuid,
  created_at       timestamptz(3) not null,
  leased_until     timestamptz(3),
  attempts_before  integer not null default 0,
  url              text,
  last_status_code integer,
  last_error       text,
  delivered_at     timestamptz(3),
  attempt_log      jsonb not null default '[]',
  primary key (tenant_id, id)
);
create unique index billing_outbox_call on billing_outbox (tenant_id, call_sid);
create index billing_outbox_due on billing_outbox (due_at, id) where status = 'pending';
create index billing_outbox_turns on billing_outbox (tenant_id, due_at, sequence, id) where status = 'pending';

-- What people are told by mail; of no tenant where tenant_id is empty.
create table notification_outbox (
  id               uuid not null,
  tenant_id        text not null,
  event            text not null,
  call_sid         text,
  voice_session_id uuid,
  sequence         integer,
  body             json not null,
  status           text not null check (status in ('pending', 'delivered', 'failed')),
  attempts         integer not null,
  due_at           timestamptz(3) not null,
  claim_token      uuid,
  created_at       timestamptz(3) not null,
  leased_until     timestamptz(3),
  attempts_before  integer not null default 0,
  url              text,
  last_status_code integer,
  last_error       text,
  delivered_at     timestamptz(3),
  attempt_log      jsonb not null default '[]',
  primary key (tenant_id, id)
);
create index notification_outbox_turns on notification_outbox (tenant_id, due_at, sequence, id) where status = 'pending';
