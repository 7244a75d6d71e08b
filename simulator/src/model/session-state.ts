import type { PhraseBook } from '../speech/phrase-book.ts'
import type { Conversation } from './conversation.ts'
import type { EventStream } from './event-stream.ts'
import type { ModelFaults } from './faults.ts'
import type { SessionConfig } from './session-config.ts'
import type { SessionRecord } from './session-record.ts'
import type { Timers } from './timers.ts'

/** What the parts of a session share. Only the session itself replaces `config` and `faults`; who uses up a fault counts it down. */
export type SessionState = {
  config: SessionConfig
  faults: ModelFaults
  readonly record: SessionRecord
  readonly stream: EventStream
  readonly timers: Timers
  readonly conversation: Conversation
  readonly phraseBook: PhraseBook
}
