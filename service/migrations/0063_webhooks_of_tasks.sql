-- Finds the events of a task that is erased.
create index webhook_outbox_of_task on webhook_outbox (tenant_id, (body #>> '{payload,task,id}'))
  where event like 'callback.task.%' or event like 'operator_queue.%';
