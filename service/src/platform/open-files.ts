import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import type { Cancel, Clock } from '../kernel/clock.ts'
import type { Log } from './log.ts'

/** With so many, a hundred calls, their clients and the embedded database have room beside each other. */
const ENOUGH_FILES = 1_024
const LOOK_INTERVAL_MS = 5_000
/** As many files as a process may have open, of which each connection is one. */
const OPEN_FILES = '/proc/self/fd'
const NONE_LEFT = new Set<string | undefined>(['EMFILE', 'ENFILE'])

/** How many files this process may have open: Node takes all that it may at its start. Null where the system does not tell. */
export function fileLimit(): number | null {
  try {
    const [, limit] = /^Max open files +\d+ +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return limit === undefined ? null : Number(limit)
  } catch {
    return null
  }
}

type Deps = {
  clock: Clock
  log: Pick<Log, 'warn' | 'error' | 'info'>
  limit?: number | null
  open?: () => Promise<unknown>
}

/**
 * Says at the start that the process may open few files, and later on, once each time, that it can open none, and that it can again:
 * a connection that there is no file for is closed without a word.
 */
export function watchOpenFiles({ clock, log, limit = fileLimit(), open = () => readdir(OPEN_FILES) }: Deps): Cancel {
  if (limit !== null && limit < ENOUGH_FILES) {
    log.warn({ limit, wanted: ENOUGH_FILES }, 'few files may be open at once: raise the limit (ulimit -n)')
  }
  let hasNone = false
  const look = async () => {
    const { code } = await open().then(
      () => ({ code: undefined }),
      (error: NodeJS.ErrnoException) => error,
    )
    const now = NONE_LEFT.has(code)
    if (now && !hasNone)
      log.error({ limit, code }, 'no file can be opened, and no connection taken: raise the limit (ulimit -n)')
    if (!now && hasNone) log.info({}, 'files can be opened again')
    hasNone = now
  }
  return clock.every(LOOK_INTERVAL_MS, () => void look())
}
