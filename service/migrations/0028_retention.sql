-- Sessions that were erased and whose audio other processes may still have on their disks: no tenant's data, so that it outlives
-- the tenant too.
create table erased_recordings (
  tenant_id  text not null,
  session_id uuid not null,
  erased_at  timestamptz(3) not null,
  primary key (tenant_id, session_id)
);
create index erased_recordings_newest on erased_recordings (erased_at, session_id);

-- What was delivered is not kept for ever.
create index webhook_outbox_delivered on webhook_outbox (delivered_at) where status = 'delivered';
create index billing_outbox_delivered on billing_outbox (delivered_at) where status = 'delivered';
create index notification_outbox_delivered on notification_outbox (delivered_at) where status = 'delivered';
