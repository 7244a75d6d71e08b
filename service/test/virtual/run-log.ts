import type { SessionEventLog } from '../../src/voice/event-log/event-log.ts'
import { type EventLog, headLine, LineWriter, type LogHead, readLines } from '../../src/voice/event-log/lines.ts'
import { sketchOf } from '../../src/voice/event-log/sketch.ts'
import type { SessionEffect, SessionEvent } from '../../src/voice/session/events.ts'

/** The event log of a virtual call, as text in memory. */
export class RunLog implements Pick<SessionEventLog, 'begin' | 'step' | 'close'> {
  text = ''
  #writer: LineWriter | null = null

  begin(head: LogHead): void {
    this.#writer = new LineWriter(head)
    this.text = `${headLine(head)}\n`
  }

  step(atUs: number, event: SessionEvent, effects: readonly SessionEffect[] | null): void {
    this.text += this.#writer?.line(atUs, event, effects === null ? '!' : sketchOf(effects)) ?? ''
  }

  close(): void {
    this.text += 'end\n'
  }

  read(): EventLog {
    return readLines(this.text)
  }
}
