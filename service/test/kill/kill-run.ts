import type pg from 'pg'
import { killPrograms } from '../harness/program.ts'
import { until } from '../harness/wait.ts'
import type { SeenCall } from './call-watch.ts'
import { type CarrierProcess, startCarrierProcess } from './carrier.ts'
import { comebackOf } from './comeback.ts'
import { type Front, startFront } from './front.ts'
import { type KillFigures, RESUME_WITHIN_MS } from './kill-verdict.ts'
import { monotonicMs } from './monotonic.ts'
import type { AfterLoss } from './options.ts'
import { type OwnerRow, OwnerWatch } from './owner-watch.ts'
import { repeat } from './repeated.ts'
import { makeTenant, NUMBER, readSession } from './service-api.ts'
import { ACCOUNT, type ServiceNode, startNode } from './service-nodes.ts'
import { ORDERS_MAX } from './talk.ts'
import { connectTo, type TestServer } from './test-database.ts'
import { TurnLedger } from './turn-ledger.ts'

/** One kill. `delayMs`: how long after all are talking. */
export type KillPlan = { calls: number; seed: number; afterLoss: AfterLoss; delayMs: number }

type Stage = {
  carrier: CarrierProcess
  database: pg.Client
  victim: ServiceNode
  victimId: string
  survivor: ServiceNode
  front: Front
  token: string
}

/** Calls begin one after the other, so that the kill finds each at another place of its conversation. */
const RING_EVERY_MS_MIN = 150
const RINGING_MS = 6_000
const POLL_MS = 250
const OWNERS_MS = 100
const READERS = 4
/** How long is watched beyond the bound: who comes back late is late, and not gone. */
const GRACE_MS = 10_000
/** How long calls go on after they came back, so that what comes next is seen too. */
const AFTERWARDS_MS = 4_000
const TALKING_MS = 120_000
const ENDED_MS = 60_000

/** Starts everything, kills a node in the middle of its calls, and measures. */
export async function runKill(server: TestServer, plan: KillPlan): Promise<KillFigures> {
  const own = server.folder.ownProcess
  const { seed, afterLoss } = plan
  const carrier = await startCarrierProcess({ ...ACCOUNT, seed, faults: { stream: { afterLoss } } }, own)
  const front = await startFront()
  const databaseUrl = await server.makeDatabase()
  const database = await connectTo(databaseUrl)
  try {
    const { carrierUrl, modelUrl } = carrier
    const folder = server.folder.path
    const installation = { databaseUrl, publicUrl: front.url, carrierUrl, modelUrl, folder, own }
    const victim = await startNode(installation)
    const victimId = await onlyNode(database)
    const survivor = await startNode(installation)
    for (const node of [victim, survivor]) front.add(node)
    const token = await makeTenant(survivor.address)
    return await measure({ carrier, database, victim, victimId, survivor, front, token }, plan)
  } finally {
    await killPrograms()
    await carrier.stop()
    await front.close()
    await database.end()
  }
}

/** A node listens before its first heartbeat is written. */
async function onlyNode(database: pg.Client): Promise<string> {
  const node = async () => (await database.query<{ node_id: string }>('select node_id from nodes')).rows[0]?.node_id
  return until(node, { what: 'the heartbeat of the node' })
}

async function measure(stage: Stage, plan: KillPlan): Promise<KillFigures> {
  const [ledger, owners] = [new TurnLedger(), new OwnerWatch()]
  const watching = repeat(OWNERS_MS, async () => owners.note(await ownersOf(stage.database)))
  try {
    return { ...(await killAndCompare(stage, ledger, plan)), ...owners.figures() }
  } finally {
    await watching.stop()
  }
}

async function killAndCompare(stage: Stage, ledger: TurnLedger, plan: KillPlan) {
  await startTalking(stage, plan.calls)
  const { killedMs, victims } = await kill(stage, ledger, plan.delayMs)
  const seen = await comeBack(stage, { killedMs, victims, withinMs: RESUME_WITHIN_MS[plan.afterLoss] })
  const live = seen.filter(({ endedMs }) => endedMs === null || endedMs > killedMs)
  await stage.carrier.hangUp()
  const faults = await readAll(stage, ledger)
  return {
    afterLoss: plan.afterLoss,
    comebacks: live.filter(({ sid }) => victims.has(sid)).map((call) => comebackOf(call, killedMs)),
    overBefore: seen.flatMap((call) => (live.includes(call) ? [] : [String(call.endedBy)])),
    dropped: live.flatMap(({ endedBy }) => endedBy ?? []),
    turnsShown: ledger.count,
    ...faults,
  }
}

async function ownersOf(database: pg.Client): Promise<OwnerRow[]> {
  return (await database.query<OwnerRow>('select call_sid, owner, epoch from call_directory')).rows
}

/** All are in progress, and of each something that was said is stored. */
async function startTalking({ carrier, front, database }: Stage, calls: number): Promise<void> {
  const addresses = { voiceUrl: `${front.url}/api/v1/incoming-call`, statusCallback: `${front.url}/api/v1/call-status` }
  const everyMs = Math.max(RING_EVERY_MS_MIN, RINGING_MS / calls)
  await carrier.ring({ to: NUMBER, calls, everyMs, orders: ORDERS_MAX, ...addresses })
  const talk = async () => (await talkingIn(database)) >= calls
  await until(talk, { what: 'all calls to talk', timeoutMs: TALKING_MS }).catch(async (cause: unknown) => {
    const seen = await carrier.look()
    const refused = seen.filter(({ streams }) => streams.length === 0).length
    throw new Error(`of ${seen.length} calls ${refused} were not taken: is the machine busy?`, { cause })
  })
  await carrier.stopRinging()
}

async function talkingIn(database: pg.Client): Promise<number> {
  const { rows } = await database.query<{ calls: string }>(
    "select count(distinct session_id) as calls from transcript_turns where role = 'caller'",
  )
  return Number(rows[0]?.calls)
}

/** Reads what the API shows until the moment of the kill: no answer that comes after it counts. */
async function kill(stage: Stage, ledger: TurnLedger, delayMs: number) {
  const readBy = { isKilled: false }
  const reading = repeat(POLL_MS, () => readEach(stage, (sid, turns) => readBy.isKilled || ledger.note(sid, turns)))
  const dueMs = monotonicMs() + delayMs
  const isDue = () => monotonicMs() >= dueMs && ledger.talking > 0
  await until(isDue, { what: 'the moment of the kill', timeoutMs: TALKING_MS })
  const rows = await ownersOf(stage.database)
  readBy.isKilled = true
  process.kill(stage.victim.program.pid, 'SIGKILL')
  const killedMs = monotonicMs()
  await reading.stop()
  const victims = new Set(rows.filter(({ owner }) => owner === stage.victimId).map((row) => row.call_sid))
  return { killedMs, victims }
}

type Turns = Awaited<ReturnType<typeof readSession>>['transcript']

/** Reads every conversation from the node that stays, a few at a time. */
async function readEach(stage: Stage, shown: (callSid: string, turns: Turns) => unknown): Promise<void> {
  const { rows } = await stage.database.query<{ id: string }>('select id from voice_sessions')
  const reader = async (): Promise<void> => {
    for (let row = rows.pop(); row; row = rows.pop()) {
      const { call_sid, transcript } = await readSession(stage.survivor.address, stage.token, row.id)
      shown(call_sid, transcript)
    }
  }
  await Promise.all(Array.from({ length: READERS }, reader))
}

type Waiting = { killedMs: number; victims: ReadonlySet<string>; withinMs: number }

/** What the carrier sees once all are back, or long after they should be. */
async function comeBack({ carrier }: Stage, { killedMs, victims, withinMs }: Waiting): Promise<SeenCall[]> {
  let allBackMs: number | null = null
  let seen: SeenCall[] = []
  const isOver = async (): Promise<boolean> => {
    // Those without a stream were refused at their beginning.
    seen = (await carrier.look()).filter(({ streams }) => streams.length > 0)
    const its = seen.filter(({ sid }) => victims.has(sid)).map((call) => comebackOf(call, killedMs))
    const nowMs = monotonicMs()
    if (its.every(({ audioMs, isInProgress }) => audioMs !== null || !isInProgress)) allBackMs ??= nowMs
    const endMs = Math.min(killedMs + withinMs + GRACE_MS, (allBackMs ?? Number.POSITIVE_INFINITY) + AFTERWARDS_MS)
    return nowMs >= endMs
  }
  await until(isOver, { what: 'the calls to come back', timeoutMs: withinMs + GRACE_MS + AFTERWARDS_MS })
  return seen
}

/** What is stored in the end. A session that nobody ends any more is not waited for longer than a minute. */
async function readAll(stage: Stage, ledger: TurnLedger): Promise<{ lost: string[]; doubled: string[] }> {
  const open = async () => {
    const { rows } = await stage.database.query('select 1 from voice_sessions where ended_at is null limit 1')
    return rows.length > 0
  }
  await until(async () => !(await open()), { what: 'all sessions to end', timeoutMs: ENDED_MS }).catch(() => {})
  const faults: { lost: string[]; doubled: string[] } = { lost: [], doubled: [] }
  await readEach(stage, (sid, turns) => {
    const { lost, doubled } = ledger.compare(sid, turns)
    faults.lost.push(...lost)
    faults.doubled.push(...doubled)
  })
  return faults
}
