import type { makeAdministration } from './admin-floor.ts'
import { HANGING_UP_OVER_MS } from './calls/hang-up.ts'
import type { Delivery } from './delivery-floor.ts'
import type { Deps } from './deps.ts'
import type { Floors } from './floors.ts'
import type { wireCalls } from './live-wiring.ts'
import { type HttpServer, stopServer } from './platform/http/server.ts'
import type { Schedule } from './schedule.ts'
import { VOICE_OVER_MS } from './voice/drain.ts'

/** Requests in flight get this long to end when the service stops. */
const STOP_GRACE_MS = 2_000
/** The journal, and with it the ends of calls, get this long to be written; where this node was known, it says goodbye in less. */
const RECORDS_WITHIN_MS = 5_000
const GOODBYE_WITHIN_MS = 1_000

/** `stop` takes no longer: its parts, of which those that do not need each other end at the same time. */
export const CLOSE_WITHIN_MS =
  Math.max(STOP_GRACE_MS, VOICE_OVER_MS) + Math.max(HANGING_UP_OVER_MS, RECORDS_WITHIN_MS) + GOODBYE_WITHIN_MS

type Closing = { close(): Promise<void> }

type Running = {
  server: HttpServer
  floors: Pick<Floors, 'credentials' | 'clips' | 'changes'>
  administration: Pick<ReturnType<typeof makeAdministration>, 'close'>
  delivery: Pick<Delivery, 'close'>
  steering: { close(): void }
  calls: Pick<Awaited<ReturnType<typeof wireCalls>>, 'watching' | 'closeLive' | 'closeRecords'>
  schedule: Schedule
  /** Where the database is one in memory. */
  forgetting: Closing | null
  /** Null in a process that stands by. */
  living: { vacuuming: Closing; heartbeat: Closing } | null
}

/** Ends what is left of calls, requests in flight, then everything that was started, in this order: the database last. */
export async function stop({ cluster, metrics, database }: Deps, running: Running): Promise<void> {
  const { server, floors, administration, delivery, steering, calls, schedule, forgetting, living } = running
  steering.close()
  const delivered = delivery.close()
  const ended = [schedule.close(), living?.vacuuming.close(), calls.watching.close(), calls.closeLive()]
  await Promise.all([...ended, stopServer(server, STOP_GRACE_MS)])
  await Promise.all([calls.closeRecords(), delivered])
  await Promise.all([floors.credentials.close(), floors.clips.close()])
  await forgetting?.close()
  await living?.heartbeat.close()
  floors.changes.close()
  administration.close()
  cluster.close()
  metrics.stop()
  await database.close()
}
