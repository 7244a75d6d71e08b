import { sql } from 'kysely'
import type { TestClock } from '../../../test/harness/clock.ts'
import { newId, type TenantId } from '../../kernel/ids.ts'
import type { PhoneNumber } from '../../kernel/phone.ts'
import { makeCallbackTasks } from '../../operators/callback-tasks.ts'
import type { Db } from '../../platform/db/schema.ts'
import type { SessionId } from '../../records/call-values.ts'
import { NODE, someCall, someTurn, tenantTold } from '../../records/calls.fixture.ts'
import { toolEntry, turnEntry } from '../../records/journal-entry.ts'
import { writeEntries } from '../../records/journal-write.ts'
import { pathOfPart, type RecordingFiles } from '../../records/recording-files.ts'
import { makeRecordings } from '../../records/recordings.ts'
import { makeSessions } from '../../records/sessions.ts'
import { insertDial } from '../dial-store.ts'
import { MENTION_TABLES } from './mention-store.ts'

/** Who is to be forgotten, and somebody else whose calls mention them. */
export const PHONE = '+12025550142' as PhoneNumber
export const OTHER = '+12025550177' as PhoneNumber

/** The number as people and programs write it. */
const SPELLINGS = ['+12025550142', '(202) 555-0142', '202.555.0142', '0012025550142', '1 202 555 0142']
/** What all of them have, and nothing else here. */
export const TRACES = ['5550142', '555-0142', '555.0142', '555 0142']

export type World = { db: Db; clock: TestClock; files: RecordingFiles; tenant: string }

/** All that a tenant may keep of the number: its own call and tasks, and mentions in every column in which there may be any. */
export async function plantNumber(world: World, callSids: { own: string; other: string }): Promise<SessionId> {
  const sessionId = await wholeCall(world, callSids.own, PHONE)
  await wholeCall(world, callSids.other, OTHER)
  await campaign(world)
  await told(world)
  await mentionEverywhere(world)
  return sessionId
}

async function wholeCall(world: World, callSid: string, phone: PhoneNumber): Promise<SessionId> {
  const { db, clock, tenant } = world
  const runtime = tenantTold(tenant)
  const now = new Date(clock.now())
  const sessions = makeSessions({ db, clock, nodeId: NODE })
  const { sessionId } = await sessions.open(runtime, someCall(callSid, { from: phone }))
  await sessions.started(runtime, { callSid, epoch: 1, streamSid: `MZ${callSid}`, model: null, voice: null })
  const call = { tenant: runtime, callSid, sessionId, epoch: 1 }
  const tool = { callId: 'c1', seq: 1, name: 'find', argumentsText: '{}', result: '{}', status: 'ok' as const }
  const entries = [turnEntry(call, someTurn(1)), toolEntry(call, { ...tool, startMs: 1, durationMs: 1 })]
  await db.transaction().execute((tx) => writeEntries(tx, entries, { now }))
  await record(world, callSid, sessionId)
  const task = await makeCallbackTasks({ db, clock }).schedule(
    runtime,
    {
      ...{ customerPhone: phone, priority: 'normal', summary: 'Call back', notes: null, dueAt: null },
      ...{ createdBy: 'Robin', metadata: {} },
      call: { callSid, sessionId, streamSid: `MZ${callSid}`, agentName: 'Robin' },
    },
    new AbortController().signal,
  )
  await sql`
    insert into callback_task_keys (tenant_id, key, body_hash, task_id, created_at)
    values (${tenant}, ${callSid}, ${Buffer.alloc(32)}, ${task.id}, ${now})`.execute(db)
  const tenant_id = tenant as TenantId
  await sql`
    insert into supervisor_actions (tenant_id, id, stream_sid, call_sid, action, metadata, created_at)
    values (${tenant}, ${newId(clock.now())}, ${`MZ${callSid}`}, ${callSid}, 'note', '{}', ${now})`.execute(db)
  await sql`
    insert into evaluations (tenant_id, id, session_id, session_ended_at, source, score, criteria, created_at)
    values (${tenant}, ${newId(clock.now())}, ${sessionId}, ${now}, 'human', 1, '[]', ${now})`.execute(db)
  const log = await db
    .selectFrom('call_logs')
    .select('id')
    .where('tenant_id', '=', tenant_id)
    .where('call_sid', '=', callSid)
    .executeTakeFirstOrThrow()
  const dial = { dial_ref: `${tenant}-${callSid}`, call_log_id: log.id, call_sid: callSid, state: 'accepted' as const }
  await db
    .transaction()
    .execute((tx) => insertDial(tx, tenant_id, { ...dial, greeting: 'Hi.', created_at: now, due_at: now }))
  await sql`
    insert into idempotency_keys (tenant_id, key, body_hash, dial_ref, created_at)
    values (${tenant}, ${callSid}, ${Buffer.alloc(32)}, ${dial.dial_ref}, ${now})`.execute(db)
  return sessionId
}

/** The call and its session are over. */
export async function over({ db, clock }: World, callSid: string): Promise<void> {
  const ended_at = new Date(clock.now())
  await db.updateTable('call_logs').set({ status: 'completed', ended_at }).where('call_sid', '=', callSid).execute()
  const session = { call_status: 'completed' as const, ended_at, end_reason: 'caller_hangup' as const }
  await db.updateTable('voice_sessions').set(session).where('call_sid', '=', callSid).execute()
}

async function record({ db, clock, files, tenant }: World, callSid: string, sessionId: SessionId): Promise<void> {
  const log = { warn: () => {} }
  const recordings = makeRecordings({ db, clock, log, nodeId: NODE, files, tenants: { get: async () => null } })
  const part = { tenant: tenantTold(tenant), callSid, sessionId, part: 1, startedAt: new Date(clock.now()) }
  await recordings.begin(part)
  const file = await files.create(pathOfPart(tenant as TenantId, sessionId, 1))
  await file.write(PHONE)
  await file.close()
  await recordings.end(part, 1)
}

async function campaign({ db, clock, tenant }: World): Promise<void> {
  const [id, now] = [newId(clock.now()), new Date(clock.now())]
  await sql`
    insert into campaigns (tenant_id, id, name, agent_key, status, calls_per_second, max_concurrent, max_attempts, retry_minutes,
                           next_dial_at, created_at, updated_at)
    values (${tenant}, ${id}, 'Autumn', 'desk', 'running', 1, 1, 1, '{1}', ${now}, ${now}, ${now})`.execute(db)
  await sql`
    insert into campaign_keys (tenant_id, key, body_hash, campaign_id, created_at)
    values (${tenant}, 'list-1', '\\x00', ${id}, ${now})`.execute(db)
  for (const [position, phone] of [PHONE, OTHER].entries()) {
    await sql`
      insert into campaign_contacts (tenant_id, id, campaign_id, position, phone, metadata, status, attempts, due_at, created_at,
                                     updated_at)
      values (${tenant}, ${newId(clock.now())}, ${id}, ${position + 1}, ${phone}, '{}', 'pending', 0, ${now}, ${now},
              ${now})`.execute(db)
  }
}

async function told({ db, clock, tenant }: World): Promise<void> {
  const now = new Date(clock.now())
  for (const table of ['billing_outbox', 'notification_outbox']) {
    await sql`
      insert into ${sql.table(table)} (tenant_id, id, event, body, status, attempts, due_at, created_at)
      values (${tenant}, ${newId(clock.now())}, 'x', '{}', 'pending', 0, ${now}, ${now})`.execute(db)
  }
  await sql`
    insert into audit_log (id, tenant_id, actor_kind, actor, action, created_at)
    values (${newId(clock.now())}, ${tenant}, 'key', 'API key', 'x.changed', ${now})`.execute(db)
}

async function mentionEverywhere({ db, tenant }: World): Promise<void> {
  const words = `Reach them at ${SPELLINGS.join(', ')}.`
  const json = JSON.stringify({ words, list: [SPELLINGS[1], { [PHONE]: 12_025_550_142 }], n: 1 })
  const values = { text: words, 'json text': json, jsonb: json, json }
  for (const { table, columns } of MENTION_TABLES) {
    for (const [name, kind] of Object.entries(columns)) {
      if (name === 'from' || name === 'to' || name === 'target_id') continue
      const value = kind === 'text[]' ? [words] : values[kind]
      const cast = kind === 'jsonb' || kind === 'json' ? sql`::${sql.raw(kind)}` : sql``
      const isTold = table === 'webhook_outbox' && name === 'body'
      // What an event is about stays, so that it is found.
      const next = isTold ? sql`(body::jsonb || ${json}::jsonb)::json` : sql`${value}${cast}`
      await sql`update ${sql.table(table)} set ${sql.ref(name)} = ${next} where tenant_id = ${tenant}`.execute(db)
    }
  }
}
