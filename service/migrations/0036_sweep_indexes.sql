-- By itself, so that nobody who reads tasks waits for it behind the columns of the migration before.
update callback_tasks task set reminded_at = done.reminded_at, escalated_at = done.escalated_at
  from callback_task_follow_ups done
 where done.tenant_id = task.tenant_id and done.task_id = task.id
   and (done.reminded_at is not null or done.escalated_at is not null);

create index callback_tasks_to_alert on callback_tasks (tenant_id, sla_due_at, id) include (queue_key)
  where status in ('open', 'claimed', 'dispatching') and last_sla_alert_due_at is distinct from sla_due_at;
create index callback_tasks_alerted on callback_tasks (tenant_id, sla_due_at, id) include (queue_key)
  where status in ('open', 'claimed', 'dispatching') and last_sla_alert_due_at = sla_due_at;
create index callback_tasks_to_escalate on callback_tasks (tenant_id, sla_due_at, id) include (queue_key)
  where status in ('open', 'claimed', 'dispatching') and escalated_at is null;
create index callback_tasks_to_remind on callback_tasks (tenant_id, greatest(coalesce(due_at, claimed_at), reminded_at), id)
  include (queue_key) where status = 'claimed';
create index callback_tasks_to_wake on callback_tasks (tenant_id, snoozed_until, id) where status = 'snoozed';
create index callback_tasks_with_ticket on callback_tasks (tenant_id, id)
  where metadata ? 'external_ticket' and status in ('open', 'claimed', 'snoozed');
create index callback_task_follow_ups_refused on callback_task_follow_ups (tenant_id, refused_at) where refused_at is not null;

-- In their place.
drop index callback_tasks_overdue;
drop index callback_tasks_snoozed;
drop index callback_tasks_claimed;
drop index callback_tasks_ticketed;
