import { sql } from 'kysely'
import type { NodeId, TenantId } from '../kernel/ids.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import { isHeardFrom } from '../platform/nodes/heartbeat-store.ts'
import type { SessionId } from './call-values.ts'

/** A part of a recording: what was recorded of one stream of a call. */
export type RecordingRow = {
  tenant_id: TenantId
  session_id: SessionId
  /** The epoch of its stream. */
  part: number
  node_id: NodeId
  path: string
  /** lost: nothing was kept of it. */
  state: 'recording' | 'ready' | 'lost'
  started_at: Date
  /** Of what is ready. */
  duration_ms: number | null
  bytes: number | null
}

declare module '../platform/db/schema.ts' {
  interface Schema {
    recordings: RecordingRow
  }
}

/** A part whose node is gone. */
export type OrphanRow = RecordingRow & { call_sid: string }

const MAX_PARTS = 1_000
const MAX_ORPHANS = 1_000

/** Enters a part; false for one that is known already, which stays as it is. To be called with `lockCall`. */
export async function insertPart(tx: Tx, tenantId: TenantId, part: Omit<RecordingRow, 'tenant_id'>): Promise<boolean> {
  const row = await tx
    .insertInto('recordings')
    .values({ ...part, tenant_id: tenantId })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'session_id', 'part']).doNothing())
    .returning('part')
    .executeTakeFirst()
  return row !== undefined
}

type PartKey = Pick<RecordingRow, 'session_id' | 'part'>

/** A part, or null when it was not entered. To be called with `lockCall`, so that it does not change meanwhile. */
export async function findPart(
  tx: Tx,
  tenantId: TenantId,
  { session_id, part }: PartKey,
): Promise<RecordingRow | null> {
  const row = await tx
    .selectFrom('recordings')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('session_id', '=', session_id)
    .where('part', '=', part)
    .executeTakeFirst()
  return row ?? null
}

/** Says what became of a part. To be called with `lockCall`. */
export async function settlePart(
  tx: Tx,
  tenantId: TenantId,
  { session_id, part }: PartKey,
  outcome: Pick<RecordingRow, 'state' | 'duration_ms' | 'bytes'>,
): Promise<void> {
  await tx
    .updateTable('recordings')
    .set(outcome)
    .where('tenant_id', '=', tenantId)
    .where('session_id', '=', session_id)
    .where('part', '=', part)
    .execute()
}

/** The parts of a session, in the order in which they were recorded. */
export async function listParts(db: Db, tenantId: TenantId, sessionId: SessionId): Promise<RecordingRow[]> {
  return db
    .selectFrom('recordings')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('session_id', '=', sessionId)
    .orderBy('started_at')
    .orderBy('part')
    .limit(MAX_PARTS)
    .execute()
}

export async function deleteParts(tx: Tx, tenantId: TenantId, sessionId: SessionId): Promise<void> {
  await tx.deleteFrom('recordings').where('tenant_id', '=', tenantId).where('session_id', '=', sessionId).execute()
}

/** The parts that are being recorded by nodes that were not heard from for `silentMs`, oldest first. */
export async function listOrphansAcrossTenants(db: Db, silentMs: number): Promise<OrphanRow[]> {
  return db
    .selectFrom('recordings')
    .innerJoin('voice_sessions', (join) =>
      join
        .onRef('voice_sessions.tenant_id', '=', 'recordings.tenant_id')
        .onRef('voice_sessions.id', '=', 'recordings.session_id'),
    )
    .selectAll('recordings')
    .select('voice_sessions.call_sid')
    .where('recordings.state', '=', 'recording')
    .where(
      sql<boolean>`not exists (
        select from nodes where nodes.node_id = recordings.node_id and ${isHeardFrom(silentMs)})`,
    )
    .orderBy('recordings.started_at')
    .limit(MAX_ORPHANS)
    .execute()
}
