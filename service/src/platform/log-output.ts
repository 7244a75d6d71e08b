import { fstatSync, write, writeSync } from 'node:fs'
import { othersFirst, systemClock } from '../kernel/clock.ts'

/** What may wait for a slow reader; lines beyond it are dropped and counted, because memory is for calls. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024
/** A pipe of Linux holds so much. */
const MOST_AT_ONCE_BYTES = 64 * 1024
const AGAIN_AFTER_MS = 20
/** How long the last lines of a process may wait for somebody to read them. */
const LAST_LINES_WITHIN_MS = 1_000
const DROPPED = 'log lines were dropped, because nobody read them in time'

/**
 * Lines on their way to a file, a pipe or a socket: none of them holds up who writes it, and no reader that has stopped to read holds up
 * the end of the process.
 *
 * What a reader does not take yet waits, up to 16 MiB; how many lines were dropped beyond that, the next one that finds room says. What cannot be written at all (nobody reads any more, a full disk) is dropped.
 * A pipe must not block: who writes to a full one that does waits for its reader, and nothing can end that.
 */
export class LogOutput {
  readonly #fd: number
  /** A disk takes what it is given, only sometimes late. A pipe says that it is full, and is never waited for. */
  readonly #isFile: boolean
  #lines: string[] = []
  #waitingBytes = 0
  /** Lines that found no room since the last one that did. */
  #dropped = 0
  /** Of what was begun: what is still to be written. */
  #rest: Buffer = Buffer.alloc(0)
  #isBusy = false
  #isGivenUp = false

  constructor(fd: number) {
    this.#fd = fd
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
    this.#lines.push(line)
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
    const time = new Date(systemClock.now()).toISOString()
    const line = `${JSON.stringify({ level: 'warn', time, lines: this.#dropped, msg: DROPPED })}\n`
    this.#dropped = 0
    this.#waitingBytes += line.length
    this.#lines.push(line)
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
    const given = this.#rest
    this.#rest = Buffer.alloc(0)
    write(this.#fd, given, (error, bytes) => {
      this.#waitingBytes -= error ? given.length : bytes
      // The line of which a full disk took a half is lost.
      if (!error && bytes < given.length) this.#rest = Buffer.concat([given.subarray(bytes), this.#rest])
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
    this.#rest = this.#rest.subarray(bytes)
  }

  #drop(): void {
    this.#lines = []
    this.#rest = Buffer.alloc(0)
    this.#waitingBytes = 0
  }

  /** Takes the next lines in hand, where none are. @returns whether there is something to write. */
  #begin(): boolean {
    if (this.#rest.length > 0) return true
    let [count, length] = [0, 0]
    for (; count < this.#lines.length && length < MOST_AT_ONCE_BYTES; count += 1)
      length += this.#lines[count]?.length ?? 0
    this.#rest = Buffer.from(this.#lines.splice(0, count).join(''))
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
