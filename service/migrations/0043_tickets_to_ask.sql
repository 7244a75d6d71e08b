-- With all that the reconciliation looks at before it knows which tasks it takes. Beside callback_tasks_with_ticket, which the release
-- before still asks.
create index callback_tasks_to_reconcile on callback_tasks (tenant_id, id) include (queue_key)
  where metadata ? 'external_ticket' and jsonb_typeof(metadata -> 'external_ticket' -> 'id') in ('string', 'number')
    and status in ('open', 'claimed', 'snoozed');
