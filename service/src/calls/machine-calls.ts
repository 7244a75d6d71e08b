import type { TenantId } from '../kernel/ids.ts'
import type { Bus } from '../platform/bus/port.ts'
import type { LiveSessions } from '../voice/live-sessions.ts'

const TOPIC = 'machine-answered'

/** Who lets a live call know that a machine answered it, on whatever node it is. */
export type MachineCalls = { answered(tenantId: TenantId, callSid: string, kind: string): void; close(): void }

/** A node that misses the message finds what is stored of the call when its stream begins; later the call goes on as with a person. */
export function makeMachineCalls(bus: Bus, live: Pick<LiveSessions, 'answeredByMachine'>): MachineCalls {
  const close = bus.subscribe(TOPIC, (told) => {
    const { tenantId, callSid, kind } = (told ?? {}) as { tenantId?: unknown; callSid?: unknown; kind?: unknown }
    if (typeof tenantId === 'string' && typeof callSid === 'string')
      live.answeredByMachine(tenantId as TenantId, callSid, typeof kind === 'string' ? kind : '')
  })
  return {
    answered(tenantId, callSid, kind) {
      // Here without the bus, which may be away; told twice, it counts once.
      live.answeredByMachine(tenantId, callSid, kind)
      bus.publish(TOPIC, { tenantId, callSid, kind })
    },
    close,
  }
}
