import type { Config } from './config.ts'
import { systemClock } from './kernel/clock.ts'
import { SharedClock } from './kernel/shared-clock.ts'
import { openEmbedded } from './platform/db/embedded.ts'
import { lostTogether } from './platform/db/lost-together.ts'
import type { Database } from './platform/db/schema.ts'
import { openServer } from './platform/db/server.ts'
import type { Log } from './platform/log.ts'

/**
 * Opens the database of the settings: an embedded one when it answers, a server's without asking it anything yet.
 *
 * @throws AppError `unavailable` with a sentence for the operator when the folder of an embedded one cannot be used.
 */
export async function openDatabase({ database }: Config, log: Log, pid: number): Promise<Database> {
  if (database.kind !== 'server') {
    const isKept = database.kind !== 'none'
    const what = isKept ? 'embedded database lost: it is opened again' : 'database in memory lost: restart the service'
    const onError = (err: Error) => log.error({ err }, what)
    const onBack = () => log.info({}, 'embedded database opened again')
    return openEmbedded({ folder: isKept ? `${database.folder}/database` : null, pid, onError, onBack })
  }
  const onError = lostTogether(systemClock, (err, connections) =>
    log.warn({ err, connections }, 'idle database connections lost'),
  )
  return openServer({ url: database.url, applicationName: 'parley', onError })
}

/** A clock that is to be told the time of the database; undefined where no other node has a part in it. */
export function sharedClockOf({ database }: Config): SharedClock | undefined {
  return database.kind === 'server' ? new SharedClock(systemClock) : undefined
}
