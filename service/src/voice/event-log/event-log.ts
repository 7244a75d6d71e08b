import type { SessionEffect, SessionEvent } from '../session/events.ts'
import { type ChunkRooms, OpenChunk, packChunk } from './chunks.ts'
import { CUT, END, headLine, LineWriter, type LogHead } from './lines.ts'
import { FAILED, sketchOf } from './sketch.ts'

/** Where a log goes. Called one at a time; what fails is lost. */
export type AppendLog = (bytes: Buffer) => Promise<void>

type Deps = {
  append: AppendLog
  /** Told once, when nothing more of the log can be written. */
  trouble(error: unknown): void
  /** Told once, when all of it is written or given up. */
  closed(): void
  rooms: ChunkRooms
  maxChars?: number
}

/** Some five hours of talk, in text; a tenth of that on the disk. */
const MAX_CHARS = 8 * 1024 * 1024
/** A disk that takes nothing must not fill the memory. */
const MAX_WAITING = 16

/**
 * What happened to one session, so that it can be run again: every event with its instant, and a sketch of what followed.
 * Nothing that was said is in it, nor any audio. What a process had not written when it was killed, a chunk, is lost. Nothing here waits
 * or throws.
 */
export class SessionEventLog {
  readonly #deps: Deps
  #lines: LineWriter | null = null
  readonly #open: OpenChunk
  #chars = 0
  #waiting = 0
  #writing: Promise<void> = Promise.resolve()
  #isOver = false
  #isLost = false

  constructor(deps: Deps) {
    this.#deps = deps
    this.#open = new OpenChunk(deps.rooms)
  }

  /** The session begins with this. */
  begin(head: LogHead): void {
    if (wordsOf(head.resumption) > (this.#deps.maxChars ?? MAX_CHARS)) return this.#leave()
    this.#lines = new LineWriter(head)
    this.#put(`${headLine(head)}\n`)
  }

  /** An event was looked at, at an instant in monotonic µs; null: the reducer threw. */
  step(atUs: number, event: SessionEvent, effects: readonly SessionEffect[] | null): void {
    if (this.#isOver || !this.#lines) return
    this.#put(this.#lines.line(atUs, event, effects === null ? FAILED : sketchOf(effects)))
  }

  /** The session is over. Again, it changes nothing. */
  close(): void {
    if (!this.#isOver) this.#end(END)
  }

  /** Resolves when what there is so far is written or given up; never rejects. */
  written(): Promise<void> {
    return this.#writing
  }

  /** It would end with its first line, in which the whole conversation is masked: calls do not wait for that. */
  #leave(): void {
    this.#isOver = true
    this.#open.close()
    this.#deps.closed()
  }

  #put(line: string): void {
    this.#add(line)
    this.#chars += line.length
    if (this.#chars > (this.#deps.maxChars ?? MAX_CHARS) || this.#waiting > MAX_WAITING) this.#end(CUT)
  }

  #end(last: string): void {
    this.#isOver = true
    this.#add(`${last}\n`)
    this.#write(this.#open.close())
    void this.#writing.then(() => (this.#isLost ? undefined : this.#deps.closed()))
  }

  #add(line: string): void {
    if (this.#open.add(line)) return
    this.#write(this.#open.take())
    // The first line is as long as its plan.
    if (!this.#open.add(line)) this.#write(packChunk(line))
  }

  #write(chunk: Buffer | null): void {
    if (chunk === null) return
    this.#waiting += 1
    this.#writing = this.#writing.then(async () => {
      if (!this.#isLost) await this.#deps.append(chunk).catch((error: unknown) => this.#lose(error))
      this.#waiting -= 1
    })
  }

  /** What has a hole cannot be run again: nothing more of it is kept. */
  #lose(error: unknown): void {
    this.#isLost = true
    this.#isOver = true
    this.#deps.trouble(error)
    this.#deps.closed()
  }
}

/** How much was said and done, in characters, before a session that goes on from it. */
function wordsOf(resumption: LogHead['resumption']): number {
  const { turns = [], toolCalls = [] } = resumption ?? {}
  const said = turns.reduce((chars, { text, unheard }) => chars + text.length + unheard.length, 0)
  return toolCalls.reduce(
    (chars, { argumentsText, result }) => chars + argumentsText.length + (result?.length ?? 0),
    said,
  )
}
