-- Finds what is due of a tenant beside the thousands that a list of numbers or a redelivery makes due.
create index webhook_outbox_prompt on webhook_outbox (tenant_id, due_at, sequence, id)
  where status = 'pending' and attempts_before = 0 and not (event like 'dnc.%' and call_sid is null);
