import type { AgentVersionId, TenantId } from '../../src/kernel/ids.ts'
import type { Db } from '../../src/platform/db/schema.ts'
import { addCall, type CallFacts } from '../../src/records/analytics/analytics.fixture.ts'
import { PHONES } from './asking.ts'

const HOUR_MS = 3_600_000

/** Calls of some days before, as all that writes about calls leaves them: one of each sort. */
export async function plantCalls(
  db: Db,
  tenant: string,
  { nowMs, versionId }: { nowMs: number; versionId: string },
): Promise<void> {
  const tenantId = tenant as TenantId
  const facts: Partial<CallFacts>[] = [
    { versionId: versionId as AgentVersionId, versionNumber: 1, outcome: 'booked', costUsd: 0.25 },
    { talkSeconds: null, status: 'no-answer' },
    { escalated: true, timesMs: [400, 900], interruptions: 2 },
    { agentKey: null, talkSeconds: 1 },
    { agentKey: 'sales', status: 'failed', talkSeconds: null },
    {},
  ]
  for (const [index, fact] of facts.entries()) {
    const at = new Date(nowMs - (facts.length - index) * 7 * HOUR_MS)
    const { callSid } = await addCall(db, tenantId, { ...fact, at })
    const from = index % 2 === 0 ? '+12025550101' : (PHONES[index] ?? '+12025550101')
    const change = { from }
    await db.updateTable('call_logs').set(change).where('call_sid', '=', callSid).execute()
    const tags = [`t${index % 2}`, 'ü "x"']
    await db
      .updateTable('voice_sessions')
      .set({ ...change, tags })
      .where('call_sid', '=', callSid)
      .execute()
    await db
      .insertInto('call_directory')
      .values({
        call_sid: callSid,
        tenant_id: tenantId,
        session_id: await sessionOf(db, callSid),
        owner: null,
        epoch: 1,
      })
      .execute()
  }
}

async function sessionOf(db: Db, callSid: string) {
  const { id } = await db
    .selectFrom('voice_sessions')
    .select('id')
    .where('call_sid', '=', callSid)
    .executeTakeFirstOrThrow()
  return id
}
