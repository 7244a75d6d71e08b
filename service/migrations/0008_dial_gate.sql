-- Numbers that a tenant must not call.
create table do_not_call (
  tenant_id  text not null references tenants on delete cascade,
  id         uuid not null,
  phone      text not null,
  reason     text,
  source     text,
  created_at timestamptz(3) not null,
  primary key (tenant_id, id),
  unique (tenant_id, phone)
);
create index do_not_call_newest on do_not_call (tenant_id, created_at desc, id desc);

-- The calls of a tenant that are not over: few beside those that are, and counted before each further one.
create index call_logs_live on call_logs (tenant_id, created_at)
  where status in ('queued', 'initiated', 'ringing', 'in-progress');
