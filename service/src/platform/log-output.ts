import { constants, fstatSync, openSync, write, writeSync } from 'node:fs'
import { isatty } from 'node:tty'
import { othersFirst, systemClock } from '../kernel/clock.ts'

/** What may wait for a slow reader; lines beyond it are dropped and counted, because memory is for calls. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024
/** A pipe of Linux holds so much. */
const MOST_AT_ONCE_BYTES = 64 * 1024
const AGAIN_AFTER_MS = 20
/** How long the last lines of a process may wait for somebody to read them. */
const LAST_LINES_WITHIN_MS = 1_000
const LINE_FEED = 10
const DROPPED = 'log lines were dropped: nobody took them in time'

/** A line, and how many lines are lost with it: one that tells of others stands for those. */
type Waiting = { line: string; lines: number }

/**
 * Lines on their way to a file, a pipe or a socket: none of them holds up who writes it, and no reader that has stopped to read holds up
 * the end of the process.
 *
 * What a reader does not take yet waits, up to 16 MiB. What comes beyond that, and what cannot be written at all (nobody reads any more, a
 * full disk), is dropped, and the next line that is taken says how many those were.
 * A pipe must not block: who writes to a full one that does waits for its reader, and nothing can end that.
 */
export class LogOutput {
  readonly #fd: number
  /** A disk takes what it is given, only sometimes late. A pipe says that it is full, and is never waited for. */
  readonly #isFile: boolean
  #lines: Waiting[] = []
  #waitingBytes = 0
  /** Lines that are lost, and of which nothing is said yet. */
  #dropped = 0
  /** What was written last is the beginning of a line. */
  #endsInLine = false
  /** Of what was begun: what is still to be written, and how many lines are lost with it. */
  #rest: Buffer = Buffer.alloc(0)
  #begun = 0
  #isBusy = false
  #isGivenUp = false

  constructor(fd: number) {
    this.#fd = isatty(fd) ? unblocked(fd) : fd
    this.#isFile = isFile(fd)
  }

  write(line: string): void {
    const bytes = Buffer.byteLength(line)
    if (this.#waitingBytes + bytes > MAX_WAITING_BYTES) {
      this.#dropped += 1
      return
    }
    if (this.#dropped > 0) this.#tellDropped()
    this.#waitingBytes += bytes
    this.#lines.push({ line, lines: 1 })
    if (this.#isBusy) return
    this.#isBusy = true
    this.#writeSoon()
  }

  /**
   * Writes what waits before it returns, for a second at most. What its reader has not taken by then is lost, and this is not tried again.
   * What the disk is at work on it finishes by itself, even at the end of the process, perhaps behind the lines that are written here.
   */
  flushSync(): void {
    const untilMs = systemClock.monotonicMs() + LAST_LINES_WITHIN_MS
    while (!this.#isGivenUp && this.#begin()) {
      const fault = this.#writeSome()
      if (fault === 'gone') this.#drop()
      if (fault !== 'full') continue
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, AGAIN_AFTER_MS)
      this.#isGivenUp = systemClock.monotonicMs() > untilMs
    }
  }

  #tellDropped(): void {
    const [lines, time] = [this.#dropped, new Date(systemClock.now()).toISOString()]
    const line = `${JSON.stringify({ level: 'warn', time, lines, msg: DROPPED })}\n`
    this.#dropped = 0
    this.#waitingBytes += line.length
    this.#lines.push({ line, lines })
  }

  #writeOut(): void {
    if (!this.#begin()) {
      this.#isBusy = false
      return
    }
    if (this.#isFile) return this.#writeToDisk()
    const fault = this.#writeSome()
    if (fault === 'gone') this.#drop()
    if (fault === 'full') systemClock.after(AGAIN_AFTER_MS, () => this.#writeOut())
    else this.#writeSoon()
  }

  #writeSoon(): void {
    void othersFirst().then(() => this.#writeOut())
  }

  #writeToDisk(): void {
    const [given, begun] = [this.#rest, this.#begun]
    this.#rest = Buffer.alloc(0)
    this.#begun = 0
    write(this.#fd, given, (error, bytes) => {
      // At the end of the process others may have been begun meanwhile.
      this.#rest = Buffer.concat([given, this.#rest])
      this.#begun += begun
      if (error) this.#dropBegun()
      else this.#written(bytes)
      this.#writeOut()
    })
  }

  #writeSome(): 'full' | 'gone' | null {
    try {
      this.#written(writeSync(this.#fd, this.#rest))
      return null
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      return code === 'EAGAIN' || code === 'EBUSY' ? 'full' : 'gone'
    }
  }

  #written(bytes: number): void {
    this.#waitingBytes -= bytes
    if (bytes > 0) this.#endsInLine = this.#rest[bytes - 1] !== LINE_FEED
    this.#rest = this.#rest.subarray(bytes)
  }

  #drop(): void {
    this.#dropBegun()
    for (const { lines } of this.#lines) this.#dropped += lines
    this.#lines = []
    this.#waitingBytes = 0
  }

  #dropBegun(): void {
    this.#waitingBytes -= this.#rest.length
    this.#dropped += this.#begun
    this.#rest = Buffer.alloc(0)
    this.#begun = 0
  }

  /** Takes the next lines in hand, where none are. @returns whether there is something to write. */
  #begin(): boolean {
    if (this.#rest.length > 0) return true
    let [count, length] = [0, 0]
    for (; count < this.#lines.length && length < MOST_AT_ONCE_BYTES; count += 1)
      length += this.#lines[count]?.line.length ?? 0
    const begun = this.#lines.splice(0, count)
    this.#begun = begun.reduce((sum, { lines }) => sum + lines, 0)
    this.#rest = Buffer.from(begun.map(({ line }) => line).join(''))
    // A full disk has taken a part of a line, and what was left of it is lost.
    if (this.#endsInLine && count > 0) {
      this.#rest = Buffer.concat([Buffer.from('\n'), this.#rest])
      this.#waitingBytes += 1
    }
    return this.#rest.length > 0
  }
}

function isFile(fd: number): boolean {
  try {
    return fstatSync(fd).isFile()
  } catch {
    return false
  }
}

/** A terminal of Node's blocks whoever writes to it while nobody reads: another way to it does not. Where there is none, itself. */
function unblocked(terminal: number): number {
  try {
    return openSync(`/proc/self/fd/${terminal}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
  } catch {
    return terminal
  }
}
