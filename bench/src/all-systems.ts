import { parley } from './parley.ts'
import type { Suite } from './suites.ts'
import { RELAYS, type System } from './systems.ts'

/** Agents stop as soon as the caller speaks, as the relays do; only those named default wait as long as agents do by default. */
const AT_ONCE_MS = 0

/** Every system of the suites. `databaseUrl`: the PostgreSQL server of those that need one. */
export function makeSystems(databaseUrl: string | undefined): readonly System[] {
  return [
    ...RELAYS,
    parley({ name: 'parley', databaseUrl, minSpeechMs: AT_ONCE_MS }),
    parley({ name: 'parley-embedded', databaseUrl: undefined, minSpeechMs: AT_ONCE_MS }),
    parley({ name: 'parley-default', databaseUrl, minSpeechMs: undefined }),
    parley({ name: 'parley-clips', databaseUrl, minSpeechMs: AT_ONCE_MS, hasClips: true }),
    parley({ name: 'parley-clips-default', databaseUrl, minSpeechMs: undefined, hasClips: true }),
  ]
}

/** Whether a suite has a system that stores on a PostgreSQL server. */
export function needsDatabase({ systems }: Suite): boolean {
  return systems.some((name) => name.startsWith('parley') && name !== 'parley-embedded')
}
