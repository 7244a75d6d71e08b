-- The open tasks of a queue in the order in which they are dispatched: those that were never refused, then those that were, the
-- longest ago first. What was refused before the column of the migration before is taken for fresh once more.
create index callback_tasks_to_dispatch on callback_tasks
  (tenant_id, queue_key, refused_at nulls first, array_position(array['urgent', 'high', 'normal', 'low'], priority), sla_due_at,
   created_at, id)
  where status = 'open';
