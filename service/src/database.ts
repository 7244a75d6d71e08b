import type { Config } from './config.ts'
import { openEmbedded } from './platform/db/embedded.ts'
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
    const onError = (err: Error) => log.error({ err }, 'embedded database lost: restart the service')
    const folder = database.kind === 'none' ? null : `${database.folder}/database`
    return openEmbedded({ folder, pid, onError })
  }
  const onError = (err: Error) => log.warn({ err }, 'idle database connection lost')
  return openServer({ url: database.url, applicationName: 'parley', onError })
}
