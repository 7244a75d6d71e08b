-- Lists of people to be called one after the other.
create table campaigns (
  tenant_id        text not null references tenants on delete cascade,
  id               uuid not null,
  name             text not null,
  agent_key        text not null,
  "from"           text,                     -- null: where the tenant's calls come from
  status           text not null check (status in ('draft', 'running', 'paused', 'completed', 'cancelled',
                                                   'paused_by_breaker')),
  status_reason    text,
  start_at         timestamptz(3),
  hours_start      text,                     -- HH:MM, beside the tenant's own hours
  hours_end        text,
  calls_per_second double precision not null,
  max_concurrent   integer not null,
  max_attempts     integer not null,
  retry_minutes    integer[] not null,
  on_machine       text check (on_machine in ('hang_up', 'leave_message')),
  next_dial_at     timestamptz(3) not null,  -- before then no node dials for it
  judged_from      timestamptz(3),           -- calls that were settled before do not count against it
  created_at       timestamptz(3) not null,
  started_at       timestamptz(3),
  completed_at     timestamptz(3),
  updated_at       timestamptz(3) not null,
  primary key (tenant_id, id)
);
create index campaigns_newest on campaigns (tenant_id, created_at desc, id desc);
create index campaigns_running on campaigns (next_dial_at) where status = 'running';

-- Whom a campaign calls, and what has come of it.
create table campaign_contacts (
  tenant_id        text not null,
  id               uuid not null,
  campaign_id      uuid not null,
  position         integer not null,         -- in the list, from 1
  phone            text not null,
  metadata         jsonb not null,
  status           text not null check (status in ('pending', 'dialing', 'completed', 'failed', 'refused', 'cancelled')),
  outcome          text,                     -- of its last call, or why there was none
  attempts         integer not null,
  due_at           timestamptz(3) not null,
  claim_token      uuid,                     -- whoever is about to call
  claimed_until    timestamptz(3),           -- then another one may: nobody is called before the call is written down
  last_call_log_id uuid,
  created_at       timestamptz(3) not null,
  updated_at       timestamptz(3) not null,
  primary key (tenant_id, id),
  unique (tenant_id, campaign_id, phone),
  foreign key (tenant_id, campaign_id) references campaigns on delete cascade
);
create index campaign_contacts_listed on campaign_contacts (tenant_id, campaign_id, created_at desc, id desc);
create index campaign_contacts_due on campaign_contacts (tenant_id, campaign_id, due_at, position)
  where status = 'pending';
create index campaign_contacts_live on campaign_contacts (tenant_id, campaign_id) where status = 'dialing';

-- The calls of campaigns, until it is known what became of each.
create table campaign_dials (
  tenant_id      text not null,
  call_log_id    uuid not null,
  campaign_id    uuid not null,
  contact_id     uuid not null,
  leaves_message boolean not null,           -- on a machine
  attempted_at   timestamptz(3) not null,
  settled_at     timestamptz(3),
  is_fault       boolean,                    -- it failed for a technical reason; null before it is settled
  primary key (tenant_id, call_log_id),
  foreign key (tenant_id, contact_id) references campaign_contacts on delete cascade,
  foreign key (tenant_id, call_log_id) references call_logs on delete cascade
);
create index campaign_dials_open on campaign_dials (attempted_at, call_log_id) where settled_at is null;
create index campaign_dials_settled on campaign_dials (tenant_id, campaign_id, settled_at desc);
create index campaign_dials_contact on campaign_dials (tenant_id, contact_id);

-- What a call does when a machine answers, where it is not what its agent would do.
alter table dials add column on_machine text;
