import { Child, type Place } from '../child.ts'
import { firstLine } from '../systems.ts'

/** The yardstick of lists as a process. `address`: where it listens. */
export type BareProcess = { pid: number; address: string; stop(): Promise<void> }

/** Starts it on `place.cores`, with the options for Node that the service has. */
export async function startBare(databaseUrl: string, place: Place): Promise<BareProcess> {
  const child = await Child.start(new URL('./bare-list.ts', import.meta.url), [databaseUrl], {
    ...place,
    stdio: ['pipe', 'pipe', 'inherit'],
    nodeArgs: ['--min-semi-space-size=8', '--max-semi-space-size=8'],
  })
  const address = await child.before(firstLine(child))
  return { pid: child.pid, address, stop: () => child.stop() }
}
