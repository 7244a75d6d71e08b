import { mkdir, mkdtemp, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { GatedDatabase } from '../../test/harness/gated-database.ts'
import { passing, passingWork } from '../../test/harness/passing.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import { AppError } from '../kernel/errors.ts'
import { type NodeId, newId } from '../kernel/ids.ts'
import { makeLateActions } from '../operators/late-actions.ts'
import { makeSupervisorActions } from '../operators/supervisor-actions.ts'
import { makeLog } from '../platform/log.ts'
import { type SessionEnd, statusReport } from '../records/call-record.ts'
import { NODE, OTHER_NODE, someCall, someTurn, storedEvents, tenantTold } from '../records/calls.fixture.ts'
import { Journal } from '../records/journal.ts'
import { JournalFiles, type Waiting } from '../records/journal-file.ts'
import { findLeftBehind } from '../records/journal-left.ts'
import { makeSessions } from '../records/sessions.ts'
import { type CallEnding, makeFinishing } from './finish.ts'
import { makeKeptEnds } from './kept-ends.ts'
import { makeLateRefusals } from './late-refusals.ts'
import { makeLateReports } from './late-reports.ts'
import { makeLateUnanswered } from './late-unanswered.ts'
import { makeRestoring } from './left-behind.ts'
import { makeCallStatuses } from './record-status.ts'

const test = useDatabase()
const acme = tenantTold('acme')
const THIRD_NODE = '0190b000-0000-7000-8000-000000000003' as NodeId
/** Each request is taken for the carrier's. */
const ANYBODYS = { expectSigned: () => {}, expectFrom: () => {} }
const gate = new GatedDatabase()
const log = makeLog({ level: 'info', secrets: [], destination: { write: (line) => lines.push(JSON.parse(line)) } })
let lines: Record<string, unknown>[]
let clock: TestClock
let folder: string
let running: Set<{ stop(): Promise<void> }>

beforeEach(async () => {
  gate.isAway = false
  lines = []
  clock = new TestClock()
  folder = await mkdtemp(join(tmpdir(), 'journal-'))
  running = new Set()
  await makeTenant(test.db, 'acme')
  const sessions = makeSessions({ db: test.db, clock, nodeId: NODE })
  await sessions.open(acme, someCall('CA1'))
  await sessions.started(acme, { callSid: 'CA1', epoch: 1, streamSid: 'MZ1', model: null, voice: null })
  await clock.advance(60_000)
})
afterEach(async () => {
  gate.isAway = false
  for (const node of running) await passingWork(clock, node.stop())
  if (clock.pendingTimers > 0) throw new Error('a timer was left')
})

/** What a process writes down calls with. */
async function startNode(nodeId: NodeId) {
  const { db } = gate.of(test.database)
  const tenants = {
    async get() {
      if (gate.isAway) throw new AppError('unavailable', 'The database is not reachable.')
      return acme
    },
  }
  const files = new JournalFiles({ folder, node: nodeId, clock, log })
  await files.start()
  const journal = new Journal({ db, clock, log, files })
  const finishing = makeKeptEnds({ clock, files, finishing: makeFinishing({ db, clock, log, tenants, journal }) })
  const statuses = makeCallStatuses({ db, clock, nodeId, tenants, willEnd: () => false })
  const reports = makeLateReports({ clock, log, statuses, files })
  const actions = makeLateActions({ db, clock, log, files })
  const refusals = makeLateRefusals({ db, clock, log, files, tenants })
  const adopt = async () => ({ tenant: await tenants.get(), isItsCall: true })
  const unanswered = makeLateUnanswered({ db, clock, log, files, tenants, signatures: ANYBODYS, adopt, statuses })
  const of = { journal, finishing, reports, actions, refusals, unanswered }
  const restoring = makeRestoring({ folder, clock, log, tenants, ...of })
  const node = {
    ...{
      files,
      journal,
      finishing,
      reports,
      refusals,
      unanswered,
      restoring,
      supervising: makeSupervisorActions({ db, log, late: actions }),
    },
    async stop() {
      running.delete(node)
      restoring.close()
      await journal.close()
      await Promise.all([finishing, reports, actions, refusals, unanswered].map((each) => each.close()))
      await files.close()
    },
  }
  running.add(node)
  return node
}

function ending(endReason: SessionEnd['endReason'] = 'caller_hangup'): CallEnding {
  const at = new Date(clock.now())
  const session: SessionEnd = {
    ...{ endReason, at },
    latency: { greetingMs: 420, responseP50Ms: 700, responseP95Ms: 900, interruptions: 2 },
    usage: { inputTokens: 900, outputTokens: 300, cachedTokens: 100, audioSeconds: 40.5 },
  }
  return { tenantId: acme.tenant_id, callSid: 'CA1', epoch: 1, session, call: statusReport('completed', at) }
}

function pass(condition: () => boolean | Promise<boolean>, what: string) {
  return passing(clock, condition, { what })
}

async function hasFiles(): Promise<boolean> {
  return (await readdir(folder)).some((name) => name.endsWith('.log'))
}

function hasSaid(what: string): boolean {
  return lines.some(({ msg }) => msg === what)
}

async function stored() {
  const log = await test.db.selectFrom('call_logs').selectAll().executeTakeFirstOrThrow()
  const session = await test.db.selectFrom('voice_sessions').selectAll().executeTakeFirstOrThrow()
  return { log, session }
}

/** A start stores what was left; on a busy machine that may be done behind it. */
async function restoredBy(nodeId: NodeId): Promise<void> {
  const next = await startNode(nodeId)
  await passingWork(clock, next.restoring.restore())
  await pass(async () => !(await hasFiles()), 'what was left to be stored')
}

/** A process that has a turn and the end of its call, while the database is away, and dies. */
async function died(): Promise<Date> {
  const node = await startNode(NODE)
  const { id: sessionId } = (await stored()).session
  gate.isAway = true
  node.journal.of({ tenant: acme, callSid: 'CA1', sessionId, epoch: 1 }).append(someTurn(1))
  const at = new Date(clock.now())
  const finished = node.finishing.finish(ending())
  await pass(hasFiles, 'the end to be kept')
  // Its last second: what a killed process does not do changes nothing in the files.
  await passingWork(clock, node.stop())
  await finished
  return at
}

describe('the end of a call that the database does not take', () => {
  it('is in a file a second later, and in none once it is written', async () => {
    const node = await startNode(NODE)
    gate.isAway = true
    const finished = node.finishing.finish(ending())
    await pass(hasFiles, 'the end to be kept')
    gate.isAway = false
    await passingWork(clock, finished)
    expect(await hasFiles()).toBe(false)
    expect((await stored()).session.end_reason).toBe('caller_hangup')
  })

  it('is written by the next start as it was, behind what was said, and told once', async () => {
    const at = await died()
    gate.isAway = false
    for (const nodeId of [OTHER_NODE, THIRD_NODE]) await restoredBy(nodeId)
    const { log: call, session } = await stored()
    expect(call).toMatchObject({ status: 'completed', ended_at: at })
    expect(session).toMatchObject({
      ...{ end_reason: 'caller_hangup', ended_at: at, duration_seconds: 60 },
      latency: { greeting_ms: 420, response_p50_ms: 700, response_p95_ms: 900, interruptions: 2 },
      usage: { input_tokens: 900, output_tokens: 300, cached_tokens: 100, audio_seconds: 40.5 },
    })
    const told = (await storedEvents(test.db)).filter(({ event }) => event === 'voice.session.completed')
    expect(told.map(({ body }) => body['payload'])).toMatchObject([
      { voice_session: { transcript: [{ text: 'Sentence 1.' }] } },
    ])
    expect(lines).toContainEqual(expect.objectContaining({ msg: 'what a dead process had not stored is stored' }))
  })

  it('ends nothing when another has taken the call over meanwhile', async () => {
    await died()
    gate.isAway = false
    await test.db.updateTable('call_directory').set({ epoch: 2 }).execute()
    await restoredBy(OTHER_NODE)
    expect((await stored()).session.ended_at).toBeNull()
  })

  it.each([
    [1, 'caller_hangup'],
    // Whose the next epoch was it does not say, and a call that goes on must not be ended: this one is looked for instead.
    [2, null],
  ])(
    'counts by its own epoch alone in the form of an earlier version: the call is of epoch %s',
    async (epoch, reason) => {
      const node = await startNode(NODE)
      const { session, call, ...rest } = ending()
      const dated = {
        session: { ...session, at: session.at.toISOString() },
        call: { ...call, at: call?.at.toISOString() },
      }
      const { isSafe } = node.files.keep([{ kind: 'end', body: { ...rest, ...dated, nextEpoch: 2 } }])
      await passingWork(clock, isSafe)
      await passingWork(clock, node.stop())
      await test.db.updateTable('call_directory').set({ epoch }).execute()
      await restoredBy(OTHER_NODE)
      expect((await stored()).session.end_reason).toBe(reason)
    },
  )
})

describe('a start while the database is away again', () => {
  it('goes on after five seconds, and stores what was left once the database is back', async () => {
    await died()
    const next = await startNode(OTHER_NODE)
    const startMs = clock.monotonicMs()
    await passingWork(clock, next.restoring.restore())
    expect(clock.monotonicMs() - startMs).toBeLessThanOrEqual(5_500)
    expect(await hasFiles()).toBe(true)
    gate.isAway = false
    await pass(async () => !(await hasFiles()), 'what was left to be stored')
    expect((await stored()).session.end_reason).toBe('caller_hangup')
  })

  it('leaves it to a later one when it is stopped before', async () => {
    await died()
    const next = await startNode(OTHER_NODE)
    await passingWork(clock, next.restoring.restore())
    await passingWork(clock, next.stop())
    gate.isAway = false
    await restoredBy(THIRD_NODE)
    expect((await stored()).session.end_reason).toBe('caller_hangup')
  })
})

describe('what a process of a later version has kept', () => {
  it('stays where this one does not know what it is, and is stored as far as it does', async () => {
    const node = await startNode(NODE)
    gate.isAway = true
    const report = { ...statusReport('completed', new Date(clock.now())), durationSeconds: 61 }
    await passingWork(clock, node.reports.take({ tenantId: acme.tenant_id, callSid: 'CA1', report }))
    const of = { kind: 'of a later version' as Waiting['kind'], body: {} }
    await passingWork(clock, node.files.keep([of]).isSafe)
    await passingWork(clock, node.stop())
    gate.isAway = false
    const next = await startNode(OTHER_NODE)
    await passingWork(clock, next.restoring.restore())
    await pass(() => hasSaid('a file of the journal stays for the later version whose it is'), 'the rest to be stored')
    expect((await stored()).log).toMatchObject({ status: 'completed', duration_seconds: 61 })
    await passingWork(clock, next.stop())
    const left = await findLeftBehind({ folder, log: makeLog({ level: 'silent', secrets: [] }) })
    for (const { leave } of left) leave()
    expect(left.flatMap(({ waiting }) => waiting)).toEqual([expect.objectContaining(of)])
  })

  it('holds up nothing of what others have left where it cannot be read, or written anew', async () => {
    const [first, second] = [await startNode(NODE), await startNode(OTHER_NODE)]
    gate.isAway = true
    await passingWork(clock, first.files.keep([{ kind: 'of a later version' as Waiting['kind'], body: {} }]).isSafe)
    const report = { ...statusReport('completed', new Date(clock.now())), durationSeconds: 61 }
    await passingWork(clock, second.reports.take({ tenantId: acme.tenant_id, callSid: 'CA1', report }))
    for (const node of [first, second]) await passingWork(clock, node.stop())
    await mkdir(join(folder, 'unreadable-1.log'))
    for (const name of await readdir(folder)) if (name.startsWith(`${NODE}-`)) await mkdir(join(folder, `${name}.new`))
    gate.isAway = false
    const next = await startNode(THIRD_NODE)
    await passingWork(clock, next.restoring.restore())
    await pass(() => hasSaid('what a dead process had not stored is stored'), 'what others have left to be stored')
    expect((await stored()).log).toMatchObject({ status: 'completed', duration_seconds: 61 })
    const failed = lines.filter(({ msg }) => String(msg).endsWith('is stored, and its files stay'))
    expect(failed).toHaveLength(1)
    const left = await findLeftBehind({ folder, log: makeLog({ level: 'silent', secrets: [] }) })
    for (const { leave } of left) leave()
    expect(left.map(({ node }) => node)).toEqual([NODE])
  })
})

describe('what a carrier tells while the database is away', () => {
  const late = () => ({
    tenantId: acme.tenant_id,
    callSid: 'CA1',
    report: { ...statusReport('completed', new Date(clock.now())), durationSeconds: 61 },
  })

  it('is written when it is back', async () => {
    const node = await startNode(NODE)
    gate.isAway = true
    expect(await passingWork(clock, node.reports.take(late()))).toBe(true)
    expect(await hasFiles()).toBe(true)
    await clock.advance(3_000)
    gate.isAway = false
    await pass(async () => !(await hasFiles()), 'the report to be written')
    expect((await stored()).log).toMatchObject({ status: 'completed', duration_seconds: 61 })
  })

  it('is written by the next start when its process dies', async () => {
    const node = await startNode(NODE)
    gate.isAway = true
    await passingWork(clock, node.reports.take(late()))
    await passingWork(clock, node.stop())
    gate.isAway = false
    await restoredBy(OTHER_NODE)
    expect((await stored()).log).toMatchObject({ status: 'completed', duration_seconds: 61 })
  })

  it('is not taken when it cannot be kept', async () => {
    const node = await startNode(NODE)
    await passingWork(clock, node.files.close())
    expect(await node.reports.take(late())).toBe(false)
  })
})

describe('a call that is not taken while the database is away', () => {
  it('is written by the next start when its process dies', async () => {
    const node = await startNode(NODE)
    gate.isAway = true
    const at = new Date(clock.now())
    const call = { callSid: 'CA2', from: '+12025550101', to: '+12025550199', why: 'internal' as const }
    const noted = { tenantId: acme.tenant_id, at, isEntered: false, isServed: false }
    await passingWork(clock, node.refusals.take({ ...noted, call: { ...call, agentKey: 'desk', agent: null } }))
    await passingWork(clock, node.stop())
    gate.isAway = false
    await restoredBy(OTHER_NODE)
    const log = await test.db.selectFrom('call_logs').selectAll().where('call_sid', '=', 'CA2').executeTakeFirst()
    expect(log).toMatchObject({ status: 'failed', error_code: 'internal', agent_key: 'desk', ended_at: at })
  })
})

describe('a call that was asked for, and is answered while the database is away', () => {
  const answered = (callSid: string) => ({
    ...{ dialRef: 'ref', callSid, why: 'too_slow' as const, at: new Date(clock.now()) },
    signed: { url: 'https://example.com/call-resume/ref', headers: { 'x-twilio-signature': 'abc' }, form: [] },
  })
  const found = async (callSid: string) => {
    const log = await test.db.selectFrom('call_logs').selectAll().where('call_sid', '=', callSid).executeTakeFirst()
    return log?.error_code
  }

  it('has a reason by the next start when its process dies', async () => {
    await makeSessions({ db: test.db, clock, nodeId: NODE }).open(acme, someCall('CA2'))
    const node = await startNode(NODE)
    gate.isAway = true
    expect(await passingWork(clock, node.unanswered.take(answered('CA2')))).toBe(true)
    await passingWork(clock, node.stop())
    gate.isAway = false
    await restoredBy(OTHER_NODE)
    expect(await found('CA2')).toBe('too_slow')
  })

  it('has none where an agent talks after all', async () => {
    const node = await startNode(NODE)
    await passingWork(clock, node.unanswered.take(answered('CA1')))
    await pass(async () => !(await hasFiles()), 'what was kept to be looked at')
    expect(await found('CA1')).toBeNull()
  })

  it('is not kept where whoever asks sends more than carriers do', async () => {
    const node = await startNode(NODE)
    const form: [string, string][] = [['Padding', 'x'.repeat(10_000)]]
    const large = { ...answered('CA1'), signed: { ...answered('CA1').signed, form } }
    expect(await node.unanswered.take(large)).toBe(false)
  })
})

describe('what a supervisor does while the database is away', () => {
  const did = (action: string) => ({
    ...{ tenant_id: acme.tenant_id, id: newId<string>(clock.now()), stream_sid: 'MZ1', call_sid: 'CA1', action },
    ...{ supervisor: 'ann', target: null, reason: 'asked for it', note: null, metadata: { from: 'desk' } },
    created_at: new Date(clock.now()),
  })
  const written = () => test.db.selectFrom('supervisor_actions').selectAll().execute()

  it('is written when it is back', async () => {
    const node = await startNode(NODE)
    gate.isAway = true
    const muted = did('mute')
    await passingWork(clock, node.supervising.keep(muted))
    expect(await hasFiles()).toBe(true)
    gate.isAway = false
    await pass(async () => !(await hasFiles()), 'the action to be written')
    expect(await written()).toEqual([muted])
  })

  /** A process takes what was done, and dies; then the database is back. */
  async function keptByTheDead() {
    const node = await startNode(NODE)
    gate.isAway = true
    const ended = did('end_call')
    await passingWork(clock, node.supervising.keep(ended))
    await passingWork(clock, node.stop())
    gate.isAway = false
    return ended
  }

  it('is written by the next start when its process dies', async () => {
    const ended = await keptByTheDead()
    await restoredBy(OTHER_NODE)
    expect(await written()).toEqual([ended])
  })

  it('is written without its words where the session was erased meanwhile', async () => {
    const ended = await keptByTheDead()
    await test.db.deleteFrom('voice_sessions').execute()
    await restoredBy(OTHER_NODE)
    expect(await written()).toEqual([{ ...ended, reason: null, note: null, metadata: {} }])
  })

  it('is an error if it was a note, of which nothing has come', async () => {
    const node = await startNode(NODE)
    gate.isAway = true
    await expect(node.supervising.keep(did('note'))).rejects.toMatchObject({ code: 'unavailable' })
    gate.isAway = false
    expect(await written()).toEqual([])
  })

  it('is told in the log when it can be kept nowhere: it was done all the same', async () => {
    const node = await startNode(NODE)
    await passingWork(clock, node.files.close())
    gate.isAway = true
    await node.supervising.keep(did('mute'))
    expect(lines).toContainEqual(expect.objectContaining({ msg: 'what a supervisor did was not written down' }))
  })
})
