import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../service/src/config.ts'
import { UsageError } from '../live/options.ts'

/** A rehearsal that goes on beside a running service, as the service has announced it. */
export type RunningRehearsal = {
  /** The service's public address. */
  public_url: string
  carrier: { base_url: string; account_sid: string; auth_token: string }
}

/**
 * Finds the rehearsal of the service that has these settings.
 *
 * @throws UsageError that says how to start one when there is none.
 */
export async function findRehearsal({ dataDir }: Pick<Config, 'dataDir'>): Promise<RunningRehearsal> {
  const path = join(dataDir, 'rehearsal.json')
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    throw new UsageError(
      `No service with a simulated carrier runs with DATA_DIR=${dataDir}. Start one with \`npm start\`, with SIMULATOR=on and no TELEPHONY_ACCOUNT_SID in its settings, or set DATA_DIR here to that of the one that runs.`,
    )
  })
  return JSON.parse(text) as RunningRehearsal
}
