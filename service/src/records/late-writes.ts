import type { Cancel, Clock } from '../kernel/clock.ts'
import type { Log } from '../platform/log.ts'
import { isDatabaseTrouble } from './database-trouble.ts'
import type { JournalFiles, Waiting } from './journal-file.ts'

/** What was to be written while the database was away. */
export type LateWrites<Late> = {
  /**
   * Takes what the database did not, to be written when it is back. True once it is on the disk, which takes a second at most:
   * then whoever brought it needs not come again. False when it is not to be had there: it is not taken then.
   */
  take(late: Late): Promise<boolean>
  /** Writes what a dead process had taken. Resolves when that is done. @throws Error when this is closed before. */
  restore(late: Late): Promise<void>
  /** Stops; what is not written stays on the disk. */
  close(): Promise<void>
}

type Deps<Late> = {
  clock: Clock
  files: Pick<JournalFiles, 'isReady' | 'keep' | 'settle'>
  /** Writes one; again, it changes nothing. */
  write(late: Late): Promise<void>
  keptAs(late: Late): Waiting
  /** Told what the database refuses for good. */
  refused(late: Late, err: unknown): void
  /** More than these at a time are not taken, with those that are on their way to the disk. */
  maxWaiting?: number
}

/** What late writes of any kind stand on. */
export type LateDeps = Pick<Deps<never>, 'clock' | 'files'> & { log: Pick<Log, 'error'> }

const RETRY_MS = 1_000
/** More than the calls of a process tell in an hour. */
const MAX_WAITING = 10_000

/** `done` hears whether it is written. */
type Pending<Late> = { late: Late; ids: number[]; done: (isWritten: boolean) => void }

export function makeLateWrites<Late>(deps: Deps<Late>): LateWrites<Late> {
  const { clock, files, write, keptAs, refused, maxWaiting = MAX_WAITING } = deps
  const waiting = new Set<Pending<Late>>()
  let taking = 0
  let cancel: Cancel | null = null
  let writing: Promise<void> | null = null
  let isClosed = false

  function add(pending: Pending<Late>): void {
    waiting.add(pending)
    cancel ??= clock.every(RETRY_MS, () => void writeWaiting())
  }

  /** Never rejects. */
  function writeWaiting(): Promise<void> {
    writing ??= writeAll().finally(() => {
      writing = null
    })
    return writing
  }

  async function writeAll(): Promise<void> {
    for (const each of [...waiting]) {
      if (isClosed || !(await isSettled(each.late))) return
      waiting.delete(each)
      await files.settle(each.ids)
      each.done(true)
    }
    if (waiting.size > 0) return
    cancel?.()
    cancel = null
  }

  /** False while the database does not take it. */
  async function isSettled(late: Late): Promise<boolean> {
    try {
      await write(late)
    } catch (err) {
      if (isDatabaseTrouble(err)) return false
      refused(late, err)
    }
    return true
  }

  return {
    async take(late) {
      if (isClosed || waiting.size + taking >= maxWaiting || !files.isReady) return false
      const { ids, isSafe } = files.keep([keptAs(late)])
      taking += 1
      const isKept = await isSafe
      taking -= 1
      if (!isKept || isClosed) return isKept
      add({ late, ids, done: () => {} })
      return true
    },
    async restore(late) {
      const written = new Promise<boolean>((resolve) => add({ late, ids: [], done: resolve }))
      await writeWaiting()
      if (!(await written)) throw new Error('what is written late is closed')
    },
    async close() {
      isClosed = true
      cancel?.()
      cancel = null
      await writing
      for (const { done } of waiting) done(false)
    },
  }
}
