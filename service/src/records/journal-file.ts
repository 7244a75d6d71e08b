import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Cancel, Clock } from '../kernel/clock.ts'
import { lockFile } from '../platform/file-lock.ts'
import type { Log } from '../platform/log.ts'
import { makeFolder } from '../platform/make-folder.ts'
import { frame } from './journal-frame.ts'
import { JournalSegments, type OpenFile } from './journal-segments.ts'

/** What may wait for the database. A later version may know more. */
export const WAITING_KINDS = ['entry', 'end', 'report', 'action', 'refusal', 'unanswered'] as const

/** Something that waits for the database, as its kind writes it down in JSON. */
export type Waiting = { kind: (typeof WAITING_KINDS)[number]; body: unknown }

/** A line of a file: something that waits, or the numbers of those that do not any more. */
export type Line = (Waiting & { id: number }) | { done: number[] }

/** What was handed over to be kept. `isSafe` resolves once it is on the disk, or is known not to come there; it never rejects. */
export type Kept = { ids: number[]; isSafe: Promise<boolean> }

type Batch = { lines: string[]; ids: number[]; told: ((isSafe: boolean) => void)[] }

type Deps = {
  /** Made with mode 0700 if it is not there. */
  folder: string
  /** Names the files; nobody else's name. */
  node: string
  clock: Clock
  log: Pick<Log, 'info' | 'error'>
  openFile?: OpenFile
  maxBytes?: number
  segmentBytes?: number
}

/** At most one fsync in this time. */
const INTERVAL_MS = 1_000
/** A disk that took nothing, and a folder that could not be used, is tried again after this. */
const TRY_AGAIN_MS = 10_000
const MAX_BYTES = 64 * 1024 * 1024
/** Another process that starts looks whether a dead one has left a name, which takes it a moment: the start waits for that. */
const LOOK_MS = 250

/**
 * What waits for the database, on the disk, so that the end of the process does not lose it: `<folder>/<node>-<n>.log`, readable
 * by nobody else, with an fsync each second at most. A file is removed when nothing in it waits any more.
 *
 * At 64 MiB in all, or when the disk takes nothing, what comes later is not kept here, which the log tells once: it waits in
 * memory alone. `<node>.lock` is held for as long as the process lives: files without a holder were left by a dead one.
 */
export class JournalFiles {
  readonly #deps: Deps
  readonly #segments: JournalSegments
  #unlock: (() => void) | null = null
  #cancelStart: Cancel = () => {}
  #batch: Batch = { lines: [], ids: [], told: [] }
  #lastId = 0
  #cancelTimer: Cancel | null = null
  #lastWrittenMs = Number.NEGATIVE_INFINITY
  #writing: Promise<void> = Promise.resolve()
  /** Those that wait no more, which no file says yet. */
  #unnoted: number[] = []
  #isFull = false
  #failedAtMs: number | null = null
  #closing: Promise<void> | null = null

  constructor(deps: Deps) {
    const { openFile, segmentBytes } = deps
    this.#deps = deps
    this.#segments = new JournalSegments(this.#path(''), { openFile, segmentBytes })
  }

  /**
   * Takes the name. A folder that cannot be used is told once, and nothing is kept until it can be; never throws. `whenLate` is called
   * once it can be: what others left there could not be seen before.
   */
  async start(whenLate: () => void = () => {}): Promise<void> {
    const { clock, log } = this.#deps
    const err = await this.#takeName(LOOK_MS)
    if (err === null) return
    log.error({ err }, 'the journal has no files: while the database is away it waits in memory alone')
    this.#cancelStart = clock.every(TRY_AGAIN_MS, () => void this.#next(() => this.#startLate(whenLate)))
  }

  async #startLate(whenLate: () => void): Promise<void> {
    if (this.#unlock || this.#closing || (await this.#takeName()) !== null) return
    this.#cancelStart()
    this.#deps.log.info('the journal has files now')
    whenLate()
  }

  /** Null, or why it cannot be had. */
  #takeName(waitMs = 0): Promise<unknown> {
    return this.#lock(waitMs).then(
      () => null,
      (err: unknown) => err,
    )
  }

  /** @throws Error when the folder cannot be made, or the name is another's. */
  async #lock(waitMs = 0): Promise<void> {
    await makeFolder(this.#deps.folder)
    const unlock = lockFile(this.#path('.lock'), waitMs)
    if (!unlock) throw new Error('another process has the lock')
    this.#unlock?.()
    this.#unlock = unlock
  }

  /** Whether it is worth it to hand anything over now. */
  get isReady(): boolean {
    const { clock } = this.#deps
    const isTired = this.#failedAtMs !== null && clock.monotonicMs() - this.#failedAtMs < TRY_AGAIN_MS
    return this.#unlock !== null && this.#closing === null && !this.#isFull && !isTired
  }

  /** How many of those that are on the disk wait still. */
  get waiting(): number {
    return this.#segments.waiting
  }

  /** Keeps these, with whatever else comes within the second. */
  keep(waiting: Waiting[]): Kept {
    if (!this.isReady) return { ids: [], isSafe: Promise.resolve(false) }
    const lines = waiting.map((each): Line => ({ ...each, id: this.#newId() }))
    const ids = lines.flatMap((line) => ('id' in line ? [line.id] : []))
    const isSafe = this.#add(lines, ids)
    this.#writeIn(this.#lastWrittenMs + INTERVAL_MS - this.#deps.clock.monotonicMs())
    return { ids, isSafe }
  }

  /** These wait no more. Resolves when no later start can find them; never rejects. */
  async settle(ids: number[]): Promise<void> {
    if (ids.length === 0) return
    await this.#write()
    this.#unnoted.push(...this.#segments.settle(ids))
    await this.#note()
    await this.#next(() => this.#segments.removeSettled())
    if (this.#segments.isEmpty) this.#isFull = false
  }

  /** What a disk does not take is noted with what is settled next, or at the end: else a later start would find it beside what came after it. */
  async #note(): Promise<void> {
    const done = this.#unnoted
    this.#unnoted = []
    if (done.length === 0 || this.#segments.waiting === 0) return
    const isNoted = this.#add([{ done }], [])
    await this.#write()
    if (!(await isNoted)) this.#unnoted.push(...done)
  }

  /** Writes what was handed over and gives the name back; files in which something waits stay. Again, it changes nothing. */
  close(): Promise<void> {
    this.#closing ??= this.#stop()
    return this.#closing
  }

  async #stop(): Promise<void> {
    this.#cancelStart()
    this.#cancelTimer?.()
    await this.#write()
    await this.#note()
    await this.#next(() => this.#segments.close())
    this.#unlock?.()
    if (this.#unlock && this.#segments.isEmpty) await this.#next(() => rm(this.#path('.lock'), { force: true }))
  }

  #path(end: string): string {
    return join(this.#deps.folder, `${this.#deps.node}${end}`)
  }

  #newId(): number {
    this.#lastId += 1
    return this.#lastId
  }

  #add(lines: Line[], ids: number[]): Promise<boolean> {
    this.#batch.lines.push(...lines.map(frame))
    this.#batch.ids.push(...ids)
    return new Promise((resolve) => this.#batch.told.push(resolve))
  }

  #writeIn(delayMs: number): void {
    if (this.#cancelTimer) return
    this.#cancelTimer = this.#deps.clock.after(Math.max(0, delayMs), () => {
      this.#cancelTimer = null
      void this.#write()
    })
  }

  /** One after the other. Never rejects. */
  #next(work: () => Promise<void>): Promise<void> {
    this.#writing = this.#writing.then(work).catch((err: unknown) => this.#failed(err))
    return this.#writing
  }

  #write(): Promise<void> {
    return this.#next(async () => {
      const { lines, ids, told } = this.#batch
      this.#batch = { lines: [], ids: [], told: [] }
      if (lines.length === 0) return
      const isSafe = await this.#append(Buffer.from(lines.join('')), ids)
      this.#lastWrittenMs = this.#deps.clock.monotonicMs()
      for (const tell of told) tell(isSafe)
    })
  }

  async #append(bytes: Buffer, ids: number[]): Promise<boolean> {
    // That something is settled makes room: a note of that is never too much.
    if (ids.length > 0 && this.#segments.sizeBytes + bytes.length > (this.#deps.maxBytes ?? MAX_BYTES))
      return this.#full()
    try {
      await this.#expectFolder()
      await this.#segments.append(bytes, ids)
    } catch (err) {
      this.#failed(err)
      return false
    }
    if (this.#failedAtMs !== null) this.#deps.log.info('the journal is kept in its files again')
    this.#failedAtMs = null
    return true
  }

  /** Where somebody has removed the folder, or what is in it, it is made again: what is written to a file that is removed is found by nobody. */
  async #expectFolder(): Promise<void> {
    if (await isThere(this.#path('.lock'))) return
    await this.#segments.close()
    await this.#lock()
  }

  #full(): false {
    if (!this.#isFull) this.#deps.log.error({}, 'the files of the journal are full: it waits in memory alone')
    this.#isFull = true
    return false
  }

  #failed(err: unknown): void {
    if (this.#failedAtMs === null)
      this.#deps.log.error({ err }, 'the journal cannot be kept in its files: it waits in memory alone')
    this.#failedAtMs = this.#deps.clock.monotonicMs()
  }
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
