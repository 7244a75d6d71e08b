import { createInterface } from 'node:readline'
import type { Entrance } from './carrier.ts'
import type { Certificate } from './certificate.ts'
import { Child, type Place } from './child.ts'
import type { Providers } from './load.ts'

/** What a system finds around it. `certificate`: whom to trust when the providers speak TLS. */
export type Surroundings = Providers & {
  certificate: Certificate | undefined
  /** Where to write CPU profiles; undefined: none. */
  profileFolder: string | undefined
}

/**
 * Something that passes calls to a model, to be measured.
 *
 * `floor` and `relay` are the yardstick: when they misbehave, so does the run. A `subject` is what is judged by it.
 */
export type System = {
  name: string
  role: 'floor' | 'relay' | 'subject'
  /** Starts it on `place.cores`; resolves when it takes calls. */
  start(surroundings: Surroundings, place: Place): Promise<RunningSystem>
}

/** A system that takes calls. `pids`: every process whose CPU and memory are its own. */
export type RunningSystem = { pids: readonly number[]; entrance: Entrance; stop(): Promise<void> }

/** The yardstick. */
export const RELAYS: readonly System[] = [
  { name: 'raw-net', role: 'floor', start: relayIn('./relay-net.ts') },
  { name: 'raw-ws', role: 'relay', start: relayIn('./relay-ws.ts') },
]

/** The environment of a child that has to trust a certificate of ours. */
export function trusting(certificate: Certificate | undefined): Record<string, string> {
  return certificate === undefined ? {} : { NODE_EXTRA_CA_CERTS: certificate.certFile }
}

/** The options with which Node writes a CPU profile of a system when it ends. */
export function profiling({ profileFolder }: Surroundings, name: string): string[] {
  if (profileFolder === undefined) return []
  return ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`, `--cpu-prof-name=${name}-${Date.now()}.cpuprofile`]
}

function relayIn(file: string): System['start'] {
  return async (surroundings, place) => {
    const child = await Child.start(new URL(file, import.meta.url), [surroundings.modelUrl], {
      ...place,
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, ...trusting(surroundings.certificate) },
      nodeArgs: profiling(surroundings, file.replace(/\W/g, '')),
    })
    const url = await child.before(firstLine(child))
    return { pids: [child.pid], entrance: { kind: 'stream', url }, stop: () => child.stop() }
  }
}

/** The first line that a process writes. @throws Error when it ends without one. */
export async function firstLine(child: Child): Promise<string> {
  const { stdout } = child.process
  if (stdout === null) throw new Error('no output to read')
  for await (const line of createInterface({ input: stdout })) return line
  throw new Error('ended without a line')
}
