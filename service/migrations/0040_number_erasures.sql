-- Requests to erase all that is kept of a telephone number, and the receipts of those that were done. The number itself stands here,
-- sealed, for as long as there is something to be done about it.
create table number_erasures (
  tenant_id    text not null references tenants on delete cascade,
  id           uuid not null,
  phone_hash   text not null,        -- keyed: whoever lacks the key cannot try numbers against it
  phone_masked text not null,
  phone_sealed text,                 -- null once it is done
  actor_kind   text not null,
  actor        text not null,
  actor_id     uuid,
  counts       jsonb not null,       -- how much of each kind was erased so far
  claim_token  uuid,                 -- of whoever is at it: nobody else goes on with it
  leased_until timestamptz(3),
  created_at   timestamptz(3) not null,
  completed_at timestamptz(3),
  primary key (tenant_id, id)
);
-- A number that is being erased is not asked for twice.
create unique index number_erasures_open on number_erasures (tenant_id, phone_hash) where completed_at is null;
create index number_erasures_due on number_erasures (created_at) where completed_at is null;
create index number_erasures_newest on number_erasures (tenant_id, created_at desc, id desc);
