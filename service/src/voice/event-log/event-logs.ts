import { type Clock, withTimeout } from '../../kernel/clock.ts'
import type { Log } from '../../platform/log.ts'
import type { EventLogFiles } from '../../records/event-log-files.ts'
import type { StreamedCall } from '../streamed-call.ts'
import { ChunkRooms } from './chunks.ts'
import { SessionEventLog } from './event-log.ts'

/** Keeps what happens to sessions. */
export type EventLogs = {
  /** Null where no logs are kept. The session closes it. */
  of(call: Pick<StreamedCall, 'tenant' | 'callSid' | 'sessionId' | 'epoch'>): SessionEventLog | null
  /** Resolves when all that ended is written, or given up after some seconds. */
  close(): Promise<void>
}

/** Where nothing is kept nothing is logged. */
export const NO_EVENT_LOGS: EventLogs = { of: () => null, close: async () => {} }

type Deps = { clock: Clock; log: Pick<Log, 'warn'>; files: Pick<EventLogFiles, 'append'> }

const CLOSE_WITHIN_MS = 2_000

export function makeEventLogs({ clock, log, files }: Deps): EventLogs {
  const open = new Set<SessionEventLog>()
  const rooms = new ChunkRooms()
  return {
    of({ tenant, callSid, sessionId, epoch }) {
      const tenantId = tenant.tenant_id
      // Of the beginning: the session goes on in the same log when another stream of the call joins it.
      const key = { tenantId, sessionId, epoch }
      const eventLog = new SessionEventLog({
        append: (bytes) => files.append(key, bytes),
        trouble: (err) => log.warn({ err, tenant_id: tenantId, call_sid: callSid }, 'the event log of a call is lost'),
        closed: () => void open.delete(eventLog),
        rooms,
      })
      open.add(eventLog)
      return eventLog
    },
    async close() {
      const written = Promise.all([...open].map((eventLog) => eventLog.written()))
      await withTimeout(clock, written, CLOSE_WITHIN_MS, () => new Error('event logs are still being written')).catch(
        (err: unknown) => log.warn({ err }, 'event logs were given up'),
      )
    },
  }
}
