import { sql } from 'kysely'
import type { TenantId } from '../../kernel/ids.ts'
import type { Db } from '../../platform/db/schema.ts'

/**
 * Erases what the tenant's calls were given that no carrier took, of those that are older than `before`: the metadata in their logs
 * and, once they are called no more, of their contacts; their greetings, and what was to be told of them. So many of each. It waits
 * for nobody, who may change many contacts at once in an order of their own: a log whose contact is being changed is left for later.
 *
 * @returns of how many of each.
 */
export async function eraseUnplaced(db: Db, tenantId: TenantId, before: Date, limit: number): Promise<number[]> {
  const logs = await sql`
    with old as materialized (
      select id from call_logs
       where tenant_id = ${tenantId} and call_sid is null and status = 'failed' and metadata <> '{}' and created_at < ${before}
       order by created_at limit ${limit} for update skip locked),
    called as materialized (
      select contact.id, old.id as log_id
        from old
        join campaign_dials dial on dial.tenant_id = ${tenantId} and dial.call_log_id = old.id
        join campaign_contacts contact on contact.tenant_id = ${tenantId} and contact.id = dial.contact_id),
    free as materialized (
      select id from campaign_contacts
       where tenant_id = ${tenantId} and id in (select id from called) for update skip locked),
    forgotten as (
      update campaign_contacts contact set forget_metadata = true from free
       where contact.tenant_id = ${tenantId} and contact.id = free.id)
    update call_logs log set metadata = '{}' from old
     where log.tenant_id = ${tenantId} and log.id = old.id
       and not exists (select from called where log_id = old.id and id not in (select id from free))
    returning log.id`.execute(db)
  const greetings = await sql`
    update dials set greeting = null
     where dial_ref in (select dial_ref from dials
                         where tenant_id = ${tenantId} and state = 'failed' and greeting is not null and created_at < ${before}
                         order by created_at limit ${limit} for update skip locked)
    returning dial_ref`.execute(db)
  // Of a call that has one they go with its session.
  const events = await sql`
    delete from webhook_outbox
     where tenant_id = ${tenantId}
       and id in (select id from webhook_outbox
                   where tenant_id = ${tenantId} and event = 'voice.call.failed' and call_sid is null and created_at < ${before}
                   order by created_at limit ${limit} for update skip locked)
    returning id`.execute(db)
  return [logs.rows.length, greetings.rows.length, events.rows.length]
}
