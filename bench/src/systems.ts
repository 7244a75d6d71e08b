import { createInterface } from 'node:readline'
import { Child, type Place } from './child.ts'

/**
 * Something that passes calls to a model, to be measured.
 *
 * `floor` and `relay` are the yardstick: when they misbehave, so does the run. A `subject` is what is judged by it.
 */
export type System = {
  name: string
  role: 'floor' | 'relay' | 'subject'
  /** Starts it on `place.core` with its model at `modelUrl`; resolves when it takes calls. */
  start(modelUrl: string, place: Place): Promise<RunningSystem>
}

/** A system that takes calls. `pids`: every process whose CPU and memory are its own. */
export type RunningSystem = { pids: readonly number[]; mediaUrl: string; stop(): Promise<void> }

/** Every system under test, in the order in which they take turns. */
export const SYSTEMS: readonly System[] = [
  { name: 'raw-net', role: 'floor', start: relayIn('./relay-net.ts') },
  { name: 'raw-ws', role: 'relay', start: relayIn('./relay-ws.ts') },
]

function relayIn(file: string): System['start'] {
  return async (modelUrl, place) => {
    const child = await Child.start(new URL(file, import.meta.url), [modelUrl], {
      ...place,
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    return { pids: [child.pid], mediaUrl: await child.before(firstLine(child)), stop: () => child.stop() }
  }
}

async function firstLine(child: Child): Promise<string> {
  const { stdout } = child.process
  if (stdout === null) throw new Error('no output to read')
  for await (const line of createInterface({ input: stdout })) return line
  throw new Error('ended without a line')
}
