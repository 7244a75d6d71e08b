import { type ColumnType, type Generated, sql } from 'kysely'
import type { TenantId } from '../kernel/ids.ts'
import { noteForCommit } from '../platform/db/commits.ts'
import type { Tx } from '../platform/db/schema.ts'
import type { EventName } from '../tenancy/tenant-events.ts'
import type { LoggedAttempt } from './attempt.ts'

/** pending: due at `due_at`, for the first time or again. failed: given up after the last attempt. */
export const OUTBOX_STATUSES = ['pending', 'delivered', 'failed'] as const

export type OutboxStatus = (typeof OUTBOX_STATUSES)[number]

/** The one thing that the operator's billing is told. */
export type BillingEvent = 'billing.outcome'

/** Stands in a row that tells of no tenant. */
const NO_TENANT = '' as TenantId

/** What goes over the wire, in the order of its members. An event without a call has empty ids. */
export type EventEnvelope<Name extends string = EventName | BillingEvent> = {
  event: Name
  tenant_id: TenantId
  call_sid: string
  voice_session_id: string
  created_at: string
  payload: Record<string, unknown>
}

/** The tables from which is delivered, all of one form. */
export const OUTBOX_TABLES = ['webhook_outbox', 'billing_outbox', 'notification_outbox'] as const

export type OutboxTable = (typeof OUTBOX_TABLES)[number]

/** What people are told by mail: plain text, a subject of one line, and to whom where that is not NOTIFY_TO. */
export type MailBody = { subject: string; text: string; to: string }

type OutboxRow<Body = EventEnvelope> = {
  tenant_id: TenantId
  /** What a receiver tells a repeat by. */
  id: string
  event: string
  call_sid: string | null
  voice_session_id: string | null
  sequence: number | null
  /** Written as JSON text. */
  body: ColumnType<Body, string, never>
  status: OutboxStatus
  /** Counted when a row is claimed, before it is sent. */
  attempts: number
  due_at: Date
  claim_token: string | null
  created_at: Date
  leased_until: Generated<Date | null>
  attempts_before: Generated<number>
  url: Generated<string | null>
  last_status_code: Generated<number | null>
  last_error: Generated<string | null>
  delivered_at: Generated<Date | null>
  attempt_log: ColumnType<LoggedAttempt[], string | undefined, string>
}

declare module '../platform/db/schema.ts' {
  interface Schema {
    webhook_outbox: OutboxRow
    billing_outbox: OutboxRow
    /** Of no tenant where `tenant_id` is empty. */
    notification_outbox: OutboxRow<MailBody>
    webhook_sequences: { tenant_id: TenantId; call_sid: string; sequence: number }
  }
}

/** An event to be written down. `callSid` is null for one without a call. */
export type NewOutboxRow = { id: string; callSid: string | null; createdAt: Date; envelope: EventEnvelope }

/**
 * Adds events in their order, due at once. Pass the transaction that changed what they tell, so that both commit or neither
 * does. Those of a call are numbered from 1 without a gap: whoever else adds one for the call waits until this transaction
 * ends.
 */
export async function insertOutboxRows(tx: Tx, tenantId: TenantId, rows: NewOutboxRow[]): Promise<void> {
  if (rows.length === 0) return
  const sequences = await reserveSequences(tx, tenantId, rows)
  const values = rows.map((row) => ({ ...pending(tenantId, row), sequence: sequences.get(row) ?? null }))
  await tx.insertInto('webhook_outbox').values(values).execute()
  noteForCommit(tx, 'webhook_outbox', tenantId)
}

/** Adds what a call cost, due at once; a call that has its outcome keeps it. Pass the transaction that ended the call. */
export async function insertBillingRow(tx: Tx, tenantId: TenantId, row: NewOutboxRow): Promise<void> {
  await tx
    .insertInto('billing_outbox')
    .values(pending(tenantId, row))
    .onConflict((conflict) => conflict.columns(['tenant_id', 'call_sid']).doNothing())
    .execute()
  noteForCommit(tx, 'billing_outbox', tenantId)
}

/** A mail to be written down; `tenantId` is null where it tells of no tenant. */
export type NewMailRow = { id: string; tenantId: TenantId | null; event: string; createdAt: Date; mail: MailBody }

/** Adds a mail, due at once. Pass the transaction that changed what it tells. */
export async function insertMailRow(tx: Tx, { id, tenantId, event, createdAt, mail }: NewMailRow): Promise<void> {
  const ofTenant = tenantId ?? NO_TENANT
  await tx
    .insertInto('notification_outbox')
    .values({
      ...{ tenant_id: ofTenant, id, event, call_sid: null, voice_session_id: null, sequence: null },
      ...{ body: JSON.stringify(mail), status: 'pending', attempts: 0, due_at: createdAt, claim_token: null },
      created_at: createdAt,
    })
    .execute()
  noteForCommit(tx, 'notification_outbox', ofTenant)
}

function pending(tenantId: TenantId, { id, envelope, callSid, createdAt }: NewOutboxRow) {
  return {
    ...{ tenant_id: tenantId, id, event: envelope.event, call_sid: callSid },
    voice_session_id: envelope.voice_session_id || null,
    sequence: null,
    body: JSON.stringify(envelope),
    status: 'pending' as const,
    attempts: 0,
    due_at: createdAt,
    claim_token: null,
    created_at: createdAt,
  }
}

/** The numbers of the rows that have a call. */
async function reserveSequences(tx: Tx, tenantId: TenantId, rows: NewOutboxRow[]): Promise<Map<NewOutboxRow, number>> {
  const byCall = Map.groupBy(rows, ({ callSid }) => callSid)
  const last = await raiseSequences(
    tx,
    tenantId,
    [...byCall].flatMap(([callSid, { length }]) => (callSid === null ? [] : [{ call_sid: callSid, sequence: length }])),
  )
  const numbered = last.flatMap(({ call_sid, sequence }) => {
    const ofCall = byCall.get(call_sid) ?? []
    return ofCall.map((row, index) => [row, sequence - ofCall.length + index + 1] as const)
  })
  return new Map(numbered)
}

type Count = { call_sid: string; sequence: number }

/** Counts further events of calls; returns how many each has had then. In the order of the calls, so that two writers never block each other. */
async function raiseSequences(tx: Tx, tenantId: TenantId, counts: Count[]): Promise<Count[]> {
  if (counts.length === 0) return []
  const inOrder = counts.toSorted((a, b) => (a.call_sid < b.call_sid ? -1 : 1))
  return tx
    .insertInto('webhook_sequences')
    .values(inOrder.map((count) => ({ ...count, tenant_id: tenantId })))
    .onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'call_sid'])
        .doUpdateSet({ sequence: sql`webhook_sequences.sequence + excluded.sequence` }),
    )
    .returning(['call_sid', 'sequence'])
    .execute()
}
