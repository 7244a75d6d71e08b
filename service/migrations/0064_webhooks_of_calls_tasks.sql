-- Finds the events of the tasks of a call that is erased.
create index webhook_outbox_of_calls_task on webhook_outbox (tenant_id, (body #>> '{payload,task,call_sid}'))
  where event like 'callback.task.%' or event like 'operator_queue.%';
