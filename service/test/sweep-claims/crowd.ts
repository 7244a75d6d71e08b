import { sql } from 'kysely'
import type { Db } from '../../src/platform/db/schema.ts'

/**
 * Makes tenants `t-1`… with callback tasks of the last ten days in four queues: of ten seven are done, and of what is left a
 * part is overdue, put off, claimed, or names a ticket. The first tenant has a fifth of all.
 */
export async function makeCrowd(db: Db, { tasks, tenants }: { tasks: number; tenants: number }): Promise<void> {
  await sql`
    insert into tenants (tenant_id, document, etag, created_at, updated_at)
    select 't-' || n, jsonb_build_object('tenant_id', 't-' || n), 'crowd', now(), now() from generate_series(1, ${tenants}::int) n
  `.execute(db)
  await sql`
    insert into callback_tasks (tenant_id, id, customer_phone, status, disposition, priority, queue_key, metadata, assigned_to,
                                claimed_at, completed_at, due_at, sla_due_at, last_sla_alert_due_at, last_sla_alerted_at,
                                snoozed_until, dispatch_attempt_count, created_at, updated_at)
    select 't-' || case when n % 5 = 0 then 1 else 1 + (n / 5) % ${tenants}::int end,
           gen_random_uuid(),
           '+1415' || lpad((n % 10000000)::text, 7, '0'),
           status,
           case when status = 'completed' then 'reached' end,
           (array['urgent', 'high', 'normal', 'low'])[1 + n % 4],
           'queue-' || (n / 7) % 4,
           case when n % 11 = 0 then jsonb_build_object('external_ticket', jsonb_build_object('id', n::text)) else '{}' end,
           case when status = 'claimed' then 'ann' end,
           case when status = 'claimed' then made + interval '5 minutes' end,
           case when status = 'completed' then made + interval '20 minutes' end,
           case when n % 3 = 0 then made end,
           due,
           case when due < now() - interval '1 day' then due end,
           case when due < now() - interval '1 day' then due end,
           case when status = 'snoozed' then made + interval '1 hour' end,
           0, made, made
      from generate_series(1, ${tasks}::int) n,
           lateral (select now() - (n % 864000) * interval '1 second' as made) m,
           lateral (select made + (30 + n % 3000) * interval '1 minute' as due) d,
           lateral (select (array['open', 'claimed', 'snoozed', 'open', 'completed', 'completed', 'completed', 'completed',
                                  'completed', 'cancelled'])[1 + (n::bigint * 7919 / 13) % 10] as status) s
  `.execute(db)
  await sql`
    insert into operator_queues (tenant_id, queue_key, sla_minutes, business_hours, auto_dispatch, max_attempts, retry_minutes,
                                 reminder_minutes, escalate_after_minutes, created_at, updated_at)
    select tenant_id, queue_key, 30, '[]', queue_key in ('queue-0', 'queue-1'), 3, 30, 15, 60, now(), now()
      from tenants, unnest(array['queue-0', 'queue-1', 'queue-2', 'queue-3']) queue_key
  `.execute(db)
  await sql`analyze`.execute(db)
}
