import type { Clock } from '../kernel/clock.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { Bus } from '../platform/bus/port.ts'
import type { Db } from '../platform/db/schema.ts'
import { machineOf } from '../records/answered-by.ts'
import type { LiveSession, LiveSessions } from '../voice/live-sessions.ts'
import { carrierAnsweredAcrossTenants } from './machine-calls-store.ts'

const TOPIC = 'machine-answered'
const LOOK_INTERVAL_MS = 1_000
/** Carriers listen to who answers for half a minute, as a rule. */
const TOLD_WITHIN_MS = 60_000

/** Who lets a live call know that a machine answered it, on whatever node it is. */
export type MachineCalls = {
  answered(tenantId: TenantId, callSid: string, kind: string): void
  /** Looks from now on what carriers have told other nodes of calls that are here. */
  start(): void
  /** Stops, and waits for a look on its way. Never rejects. */
  close(): Promise<void>
}

type Deps = {
  db: Db
  clock: Clock
  bus: Bus
  live: Pick<LiveSessions, 'all' | 'answeredByMachine'>
  /** No other node could be told anything. */
  isAlone: boolean
}

/**
 * What a carrier tells this node reaches others over the bus. Where that does not, the node that has the call finds it stored: before its
 * stream begins, and each second of its first minute.
 */
export function makeMachineCalls({ db, clock, bus, live, isAlone }: Deps): MachineCalls {
  /** Those of which the carrier has said who answered: it does so once. */
  const known = new WeakSet<LiveSession>()
  let looking: Promise<void> | null = null
  let cancel = () => {}
  const stopHearing = bus.subscribe(TOPIC, (told) => {
    const { tenantId, callSid, kind } = (told ?? {}) as { tenantId?: unknown; callSid?: unknown; kind?: unknown }
    if (typeof tenantId === 'string' && typeof callSid === 'string')
      live.answeredByMachine(tenantId as TenantId, callSid, typeof kind === 'string' ? kind : '')
  })

  async function look(): Promise<void> {
    const since = clock.now() - TOLD_WITHIN_MS
    const asked = live
      .all()
      .filter(({ facts }) => facts.callType === 'outbound' && facts.startedAt.getTime() >= since)
      .filter((session) => !known.has(session))
    const sids = asked.map(({ facts }) => facts.callSid)
    for (const { tenantId, callSid, answeredBy } of await carrierAnsweredAcrossTenants(db, sids)) {
      const session = asked.find(({ facts }) => facts.callSid === callSid && facts.tenantId === tenantId)
      if (session) known.add(session)
      const kind = machineOf(answeredBy)
      // Told twice, it counts once.
      if (session && kind !== null) live.answeredByMachine(tenantId, callSid, kind)
    }
  }

  return {
    answered(tenantId, callSid, kind) {
      // Here without the bus, which may be away.
      live.answeredByMachine(tenantId, callSid, kind)
      bus.publish(TOPIC, { tenantId, callSid, kind })
    },
    start() {
      if (isAlone) return
      cancel = clock.every(LOOK_INTERVAL_MS, () => {
        // While the database is away nothing is stored that could be found: the next look comes in a second.
        looking ??= look()
          .catch(() => {})
          .finally(() => {
            looking = null
          })
      })
    },
    async close() {
      stopHearing()
      cancel()
      await looking
    },
  }
}
