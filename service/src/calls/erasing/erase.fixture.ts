import type { TestClock } from '../../../test/harness/clock.ts'
import { newId, type TenantId } from '../../kernel/ids.ts'
import { makeCallbackTasks } from '../../operators/callback-tasks.ts'
import type { Db } from '../../platform/db/schema.ts'
import type { SessionId } from '../../records/call-values.ts'
import { NODE, someCall, someTurn, tenantTold } from '../../records/calls.fixture.ts'
import { toolEntry, turnEntry } from '../../records/journal-entry.ts'
import { writeEntries } from '../../records/journal-write.ts'
import { pathOfPart, type RecordingFiles } from '../../records/recording-files.ts'
import { makeRecordings } from '../../records/recordings.ts'
import { makeSessions } from '../../records/sessions.ts'

/** What is said in each call that is to be erased, and written nowhere else. */
export const SECRET = 'the blue suitcase'
export const DAY_MS = 86_400_000
export const quiet = { warn: () => {}, info: () => {}, error: () => {} }

/** Where calls are kept. */
export type Kept = { db: Db; clock: TestClock; files: RecordingFiles }

/** The call, as entries of the journal name it. */
export function callOf(tenant: string, callSid: string, sessionId: SessionId) {
  return { tenant: tenantTold(tenant), callSid, sessionId, epoch: 1 }
}

/** A call in which everything that can be noted was noted, with the same words. */
export async function plantCall(kept: Kept, callSid: string, tenant: string): Promise<SessionId> {
  const { db, clock } = kept
  const runtime = tenantTold(tenant)
  const sessions = makeSessions({ db, clock, nodeId: NODE })
  const { sessionId } = await sessions.open(runtime, someCall(callSid, { metadata: { lost: SECRET } }))
  await sessions.started(runtime, { callSid, epoch: 1, streamSid: `MZ${callSid}`, model: null, voice: null })
  const call = callOf(tenant, callSid, sessionId)
  const tool = { callId: 'c1', seq: 1, name: 'find', argumentsText: SECRET, result: SECRET, status: 'ok' as const }
  const entries = [
    turnEntry(call, someTurn(1, { text: SECRET })),
    toolEntry(call, { ...tool, startMs: 1, durationMs: 1 }),
  ]
  await db.transaction().execute((tx) => writeEntries(tx, entries, { now: new Date(clock.now()) }))
  await record(kept, { tenant, callSid, sessionId })
  await makeCallbackTasks({ db, clock }).schedule(
    runtime,
    {
      ...{ customerPhone: '+12025550101' as never, priority: 'normal', summary: SECRET, notes: SECRET, dueAt: null },
      ...{ createdBy: 'Robin', metadata: { lost: SECRET, consent: true, external_ticket: { id: '7' } } },
      call: { callSid, sessionId, streamSid: `MZ${callSid}`, agentName: 'Robin' },
    },
    new AbortController().signal,
  )
  await db
    .insertInto('supervisor_actions')
    .values({
      ...{
        tenant_id: tenant as TenantId,
        id: newId<string>(clock.now()),
        stream_sid: `MZ${callSid}`,
        call_sid: callSid,
      },
      ...{
        action: 'note',
        supervisor: 'Ada',
        target: null,
        reason: SECRET,
        note: SECRET,
        metadata: `{"a":"${SECRET}"}`,
      },
      created_at: new Date(clock.now()),
    })
    .execute()
  return sessionId
}

type Recorded = { tenant: string; callSid: string; sessionId: SessionId }

async function record({ db, clock, files }: Kept, { tenant, callSid, sessionId }: Recorded): Promise<void> {
  const parts = { db, clock, log: quiet, files, tenants: { get: async () => null } }
  const recordings = makeRecordings({ ...parts, nodeId: NODE })
  const part = { tenant: tenantTold(tenant), callSid, sessionId, part: 1, startedAt: new Date(clock.now()) }
  await recordings.begin(part)
  const file = await files.create(pathOfPart(tenant as TenantId, sessionId, 1))
  await file.write(SECRET)
  await file.close()
  await recordings.end(part, 1)
}

/** The call has ended. */
export async function endCall({ db, clock }: Pick<Kept, 'db' | 'clock'>, callSid: string): Promise<void> {
  const ended_at = new Date(clock.now())
  const summary = SECRET
  await db
    .updateTable('call_logs')
    .set({ status: 'completed', ended_at, summary })
    .where('call_sid', '=', callSid)
    .execute()
  const session = { call_status: 'completed' as const, ended_at, end_reason: 'caller_hangup' as const }
  await db.updateTable('voice_sessions').set(session).where('call_sid', '=', callSid).execute()
}
