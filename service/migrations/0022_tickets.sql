-- What the reconciliation knows of the tickets that tasks name in their metadata.
create table callback_task_tickets (
  tenant_id      text not null,
  task_id        uuid not null,
  checked_at     timestamptz(3), -- when its system was asked last
  checking_until timestamptz(3), -- whoever asks now has until then
  completed_at   timestamptz(3), -- that of the task, when it was completed because its ticket was closed
  primary key (tenant_id, task_id),
  foreign key (tenant_id, task_id) references callback_tasks on delete cascade
);
create index callback_task_tickets_completed on callback_task_tickets (tenant_id) where completed_at is not null;

create index callback_tasks_ticketed on callback_tasks (tenant_id, id) where metadata ? 'external_ticket';
