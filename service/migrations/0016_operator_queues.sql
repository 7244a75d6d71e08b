-- How the queues of a tenant's operators work. A queue without a row works by the defaults.
create table operator_queues (
  tenant_id              text not null references tenants on delete cascade,
  queue_key              text not null,
  name                   text,
  sla_minutes            integer not null,
  timezone               text,
  business_hours         jsonb not null, -- [{days, start, end}]; empty: always
  auto_dispatch          boolean not null,
  dispatch_agent_key     text,
  max_attempts           integer not null,
  retry_minutes          integer not null,
  reminder_minutes       integer not null,
  escalate_after_minutes integer not null,
  escalation_target      text,
  created_at             timestamptz(3) not null,
  updated_at             timestamptz(3) not null,
  primary key (tenant_id, queue_key)
);

-- Who did what to a callback task: a row for each change, written with it.
create table callback_task_changes (
  tenant_id  text not null,
  id         uuid not null,
  task_id    uuid not null,
  action     text not null,
  status     text not null, -- what it had then
  operator   text,          -- null: nobody said who
  note       text,
  details    jsonb not null,
  created_at timestamptz(3) not null,
  primary key (tenant_id, id),
  foreign key (tenant_id, task_id) references callback_tasks on delete cascade
);
create index callback_task_changes_newest on callback_task_changes (tenant_id, task_id, created_at desc, id desc);

-- The calls by which tasks were dispatched, until it is known what became of each.
create table callback_task_dispatches (
  tenant_id    text not null,
  call_log_id  uuid not null,
  task_id      uuid not null,
  attempted_at timestamptz(3) not null,
  settled_at   timestamptz(3),
  primary key (tenant_id, call_log_id),
  foreign key (tenant_id, task_id) references callback_tasks on delete cascade,
  foreign key (tenant_id, call_log_id) references call_logs on delete cascade
);
create index callback_task_dispatches_task on callback_task_dispatches (tenant_id, task_id);
create index callback_task_dispatches_open on callback_task_dispatches (attempted_at) where settled_at is null;

-- The next task of a queue is the first of this order.
create index callback_tasks_next on callback_tasks
  (tenant_id, queue_key, array_position(array['urgent', 'high', 'normal', 'low'], priority), sla_due_at, created_at, id)
  where status = 'open';
-- The tasks that are not done: few beside those that are.
create index callback_tasks_live on callback_tasks (tenant_id, queue_key, status)
  where status in ('open', 'claimed', 'snoozed', 'dispatching');
-- The list over all tenants.
create index callback_tasks_all on callback_tasks (created_at desc, id desc);
