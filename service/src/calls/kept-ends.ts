import type { Clock } from '../kernel/clock.ts'
import type { CallReport } from '../records/call-record.ts'
import type { JournalFiles, Kept, Waiting } from '../records/journal-file.ts'
import type { CallEnding, Finishing } from './finish.ts'

type Deps = {
  clock: Clock
  finishing: Finishing
  files: Pick<JournalFiles, 'keep' | 'settle'>
}

const KEPT_AFTER_MS = 1_000

/**
 * Ends calls as `finishing` does, and keeps an end that the database has not taken for a second in the journal's files too: it
 * outlives the process. `finish` rejects only for an end that is neither written nor kept.
 */
export function makeKeptEnds({ clock, finishing, files }: Deps): Finishing {
  const running = new Set<Promise<boolean>>()

  async function finish(ending: CallEnding): Promise<boolean> {
    const keeping = new Keeping(files, keptEnd(ending))
    const cancel = clock.every(KEPT_AFTER_MS, () => void keeping.isSafe())
    try {
      const isEnd = await finishing.finish(ending)
      await files.settle(keeping.ids)
      return isEnd
    } catch (error) {
      if (!(await keeping.isSafe())) throw error
      return true
    } finally {
      cancel()
    }
  }

  return {
    finish(ending) {
      const finished = finish(ending).finally(() => running.delete(finished))
      running.add(finished)
      return finished
    },
    async close() {
      await finishing.close()
      await Promise.allSettled(running)
    },
  }
}

/** One thing that is to be in the files once. */
class Keeping {
  readonly #files: Deps['files']
  readonly #waiting: Waiting
  #kept: Kept | null = null

  constructor(files: Deps['files'], waiting: Waiting) {
    this.#files = files
    this.#waiting = waiting
  }

  get ids(): number[] {
    return this.#kept?.ids ?? []
  }

  /** Keeps it unless it is kept. */
  async isSafe(): Promise<boolean> {
    const kept = this.#kept ?? this.#files.keep([this.#waiting])
    this.#kept = kept
    const isSafe = await kept.isSafe
    if (!isSafe && this.#kept === kept) this.#kept = null
    return isSafe
  }
}

type Dated<T> = Omit<T, 'at'> & { at: string }
type KeptEnd = Omit<CallEnding, 'session' | 'call'> & {
  session: Dated<CallEnding['session']>
  call: Dated<CallReport> | null
}

function keptEnd({ session, call, ...ending }: CallEnding): Waiting {
  const body: KeptEnd = { ...ending, session: dated(session), call: call && dated(call) }
  return { kind: 'end', body }
}

/** Reads the ends among what was kept. */
export function readEnds(waiting: Waiting[]): CallEnding[] {
  // Sound: what stands behind a checksum was written by `keptEnd`.
  const ends = waiting.flatMap(({ kind, body }) => (kind === 'end' ? [body as KeptEnd] : []))
  return ends.map(({ session, call, ...ending }) => ({
    ...ending,
    session: undated(session),
    call: call && undated(call),
  }))
}

/** JSON knows no instants. */
export function dated<T extends { at: Date }>({ at, ...rest }: T): Dated<T> {
  return { ...rest, at: at.toISOString() }
}

/** The other way round. */
export function undated<T>({ at, ...rest }: { at: string } & T): Omit<T, 'at'> & { at: Date } {
  return { ...(rest as Omit<T, 'at'>), at: new Date(at) }
}
