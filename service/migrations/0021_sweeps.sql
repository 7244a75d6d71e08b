-- What the sweeps did about a callback task that is no change of it. A task without a row was left alone so far.
create table callback_task_follow_ups (
  tenant_id    text not null,
  task_id      uuid not null,
  reminded_at  timestamptz(3), -- when who claimed it was reminded last
  escalated_at timestamptz(3), -- a task is escalated once
  refused_at   timestamptz(3), -- when it could not be dispatched by itself, the last time
  primary key (tenant_id, task_id),
  foreign key (tenant_id, task_id) references callback_tasks on delete cascade
);

-- What a sweep over all tenants looks for, by the instant from which on there is something to do.
create index callback_tasks_overdue on callback_tasks (sla_due_at) where status in ('open', 'claimed', 'dispatching');
create index callback_tasks_snoozed on callback_tasks (snoozed_until) where status = 'snoozed';
create index callback_tasks_claimed on callback_tasks (coalesce(due_at, claimed_at)) where status = 'claimed';
create index operator_queues_dispatching on operator_queues (tenant_id) where auto_dispatch;
