import { afterEach, beforeEach } from 'vitest'
import { type CarrierReply, type CarrierRest, startCarrierRest } from '../../test/harness/carrier-rest.ts'
import { TestClock } from '../../test/harness/clock.ts'
import type { TestDatabase } from '../../test/harness/database.ts'
import { passing } from '../../test/harness/passing.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import { there } from '../../test/harness/there.ts'
import { systemClock } from '../kernel/clock.ts'
import type { NodeId, TenantId } from '../kernel/ids.ts'
import { SharedClock } from '../kernel/shared-clock.ts'
import type { Database, Db } from '../platform/db/schema.ts'
import { makeLog } from '../platform/log.ts'
import { beat } from '../platform/nodes/heartbeat-store.ts'
import { SteadyBeats } from '../platform/nodes/steady-beats.ts'
import { makeCarriers } from '../platform/telephony/registry.ts'
import { NODE, OTHER_NODE, someCall, tenantTold } from '../records/calls.fixture.ts'
import { makeSessions } from '../records/sessions.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { CarrierRequests } from './carrier-requests.ts'
import { makeEndLostCall } from './lost-calls.ts'
import { makeOpenCalls } from './open-calls.ts'
import { makeOrphanedCalls } from './orphaned-calls.ts'
import { makeCallStatuses } from './record-status.ts'
import { makeSendCallBack } from './send-call-back.ts'

export const RESUME_URL = 'https://voice.example.com/api/v1/call-resume'
export const MAX_CALL_MS = 1_800_000

/** A tenant with an account of its own at the carrier. */
function tenantOfCarrier(id: string): TenantRuntime {
  const tenant = tenantTold(id)
  return { ...tenant, telephony: { ...tenant.telephony, account_sid: `AC-${id}`, auth_token: 'token' } }
}

/** What the carrier says of a call. */
export function carrierSays(status: string, facts: object = {}): CarrierReply {
  return { status: 200, body: { sid: 'CA1', status, from: '', to: '', duration: null, answered_by: null, ...facts } }
}

/** What the carrier says of a call that it does not know, or that is over where it should be changed. */
export const NO_SUCH_CALL: CarrierReply = { status: 404, body: { code: 20404, message: 'not found' } }

/** One node as far as it looks after calls. */
export type WatchingNode = ReturnType<typeof makeNode>

type Parts = {
  db: Db
  vital: Db
  nodeId: NodeId
  clock: TestClock
  rest: CarrierRest
  silenceMs: number
  tenants: Tenants
}
type Tenants = { get(id: TenantId): Promise<TenantRuntime | null> }

function makeNode({ db, vital, nodeId, clock, rest, silenceMs, tenants }: Parts) {
  const lines: string[] = []
  const log = makeLog({ level: 'debug', secrets: [], destination: { write: (line) => lines.push(line) } })
  const here = new Set<string>()
  const hungUp: string[] = []
  const willEnd = (_tenantId: TenantId, callSid: string) => here.has(callSid)
  const requests = new CarrierRequests({ clock, carriers: makeCarriers({ apiBaseUrl: rest.baseUrl }) })
  const known = { db, vital, clock, log, nodeId, tenants }
  const openCalls = makeOpenCalls({
    ...{ ...known, requests, willEnd },
    statuses: makeCallStatuses({ ...known, willEnd }),
    endLostCall: makeEndLostCall({ db, clock, tenants }),
    hungUp: (_tenantId, callSid) => void hungUp.push(callSid),
    maxCallMs: async () => MAX_CALL_MS,
  })
  const sendCallBack = makeSendCallBack({ db, clock, log, requests, resumeUrl: () => RESUME_URL })
  const beats = new SteadyBeats(clock)
  const sharedClock = new SharedClock(systemClock)
  const orphanedCalls = makeOrphanedCalls({ ...known, openCalls, sendCallBack, beats, sharedClock, silenceMs })
  return {
    ...{ requests, openCalls, orphanedCalls, sendCallBack, sessions: makeSessions({ db, clock, nodeId }) },
    /** The calls whose sessions are on this node. */
    here,
    hungUp,
    /** Its heartbeat, of now. `isTold`: its answer tells what the database's clock says, exactly enough. */
    async beat({ isTold = true } = {}) {
      const askedMs = sharedClock.monotonicMs()
      const at = await beat(vital, nodeId, '1')
      beats.written()
      if (isTold && sharedClock.heard(at.getTime(), askedMs) !== 0) beats.beginAnew()
    },
    /** The database's clock was so far behind when this node heard it last. */
    clockWasBehind: (ms: number) => void sharedClock.heard(systemClock.now() - ms, sharedClock.monotonicMs()),
    logged: () => lines.map((line) => (JSON.parse(line) as { msg: string }).msg),
    /** `isSlow`: time passes while the carrier is asked. */
    async sweepOpen({ isSlow = false } = {}) {
      await openCalls.sweep()
      await (isSlow ? finishing(clock, openCalls.settled()) : openCalls.settled())
    },
    async sweepOrphans({ isSlow = false } = {}) {
      await orphanedCalls.sweep()
      await (isSlow ? finishing(clock, orphanedCalls.settled()) : orphanedCalls.settled())
    },
  }
}

/** Moves time on until the work is done. */
async function finishing(clock: TestClock, work: Promise<void>): Promise<void> {
  let isDone = false
  const done = work.then(() => {
    isDone = true
  })
  await passing(clock, () => isDone, { what: 'the work in the background', stepMs: 100 })
  await done
}

/**
 * A carrier and a clock for each test of the file, and nodes that look after the calls of its database: call `useDatabase` first.
 * There are the tenants `acme` and `globex`; `node` is the one that looks, and `other` the one whose calls it may take.
 */
export function useWatchedCalls(test: TestDatabase) {
  const parts: {
    clock?: TestClock
    rest?: CarrierRest
    node?: WatchingNode
    other?: WatchingNode
    database?: Database
  } = {}
  const tenants = new Map<string, TenantRuntime>()
  beforeEach(async () => {
    const [clock, rest] = [new TestClock(), await startCarrierRest()]
    const both = { clock, rest, tenants: { get: async (id: TenantId) => tenants.get(id) ?? null } }
    for (const id of ['acme', 'globex']) {
      await makeTenant(test.db, id)
      tenants.set(id, tenantOfCarrier(id))
    }
    parts.database ??= await test.anotherNode()
    const { db, vital } = parts.database
    Object.assign(parts, {
      ...{ clock, rest },
      node: makeNode({ ...both, db: test.db, vital: test.database.vital, nodeId: NODE, silenceMs: 0 }),
      other: makeNode({ ...both, db, vital, nodeId: OTHER_NODE, silenceMs: 3_000 }),
    })
  })
  afterEach(async () => {
    parts.node?.requests.close()
    parts.other?.requests.close()
    await parts.rest?.close()
  })
  return {
    tenants,
    get clock() {
      return there(parts.clock)
    },
    get rest() {
      return there(parts.rest)
    },
    get node() {
      return there(parts.node)
    },
    get other() {
      return there(parts.other)
    },
    tenant: (id: string) => there(tenants.get(id)),
    /** A call rings, and its stream begins on a node. */
    async talk(callSid: string, on: WatchingNode, tenantId = 'acme', direction: 'inbound' | 'browser' = 'inbound') {
      const tenant = there(tenants.get(tenantId))
      await on.sessions.open(tenant, someCall(callSid, { direction }))
      const stream = { callSid, epoch: 1, streamSid: `MZ${callSid}`, model: null, voice: null }
      if (!(await on.sessions.started(tenant, stream))) throw new Error('the stream did not get its call')
      on.here.add(callSid)
    },
    async stored(callSid: string) {
      const of = { call_sid: callSid }
      const [log, session, entry] = await Promise.all([
        test.db.selectFrom('call_logs').selectAll().where('call_sid', '=', of.call_sid).executeTakeFirstOrThrow(),
        test.db.selectFrom('voice_sessions').selectAll().where('call_sid', '=', of.call_sid).executeTakeFirstOrThrow(),
        test.db.selectFrom('call_directory').selectAll().where('call_sid', '=', of.call_sid).executeTakeFirstOrThrow(),
      ])
      return { log, session, entry }
    },
  }
}
