-- The desk: what is not done, in the order in which its promises are over. A tenant has few of these beside those that are done.
create index callback_tasks_due on callback_tasks (tenant_id, sla_due_at, id)
  where status in ('open', 'claimed', 'snoozed', 'dispatching');
