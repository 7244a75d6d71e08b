import { talkSpans } from '../audio/levels.ts'
import { BYTES_PER_MS } from '../audio/mulaw.ts'
import type { CallEnd } from '../carrier/call-plan.ts'
import type { CallMeasures } from '../carrier/measure.ts'
import type { SimulatedCall } from '../carrier/simulated-call.ts'
import type { Notification } from '../carrier/verbs.ts'
import type { SessionRecord } from '../model/session-record.ts'
import type { PhraseBook } from '../speech/phrase-book.ts'

/** Something that was heard on the line; `text` is null for audio that was not made here. `atMs` counts from the answer. */
export type Utterance = { who: 'caller' | 'agent'; atMs: number; text: string | null }

/** What is known of a call that is over. */
export type CallFacts = {
  /** Empty when the bridge was to call, and did not. */
  sid: string
  from: string
  to: string
  end: CallEnd
  /** Null for a call that was never answered. */
  measures: CallMeasures | null
  /** Both sides as the caller heard them, in order. */
  conversation: Utterance[]
  /** All that the caller heard of the agent. */
  heard: string
  /** All that the model was given to hear of the caller. */
  understood: string
  tools: { name: string; arguments: string; output: string | null }[]
  sessions: SessionRecord[]
  notifications: readonly Notification[]
}

/** Gathers the facts of a call that is over. */
export function factsOf(
  call: SimulatedCall,
  end: CallEnd,
  sessions: SessionRecord[],
  phraseBook: PhraseBook,
): CallFacts {
  const { sid, from, to, recording, notifications } = call
  const conversation = recording
    ? [...utterances('caller', recording.caller, phraseBook), ...utterances('agent', recording.agent, phraseBook)]
    : []
  conversation.sort((a, b) => a.atMs - b.atMs)
  const understood = sessions.flatMap((session) => session.heard.map((turn) => turn.text ?? ''))
  return {
    sid,
    from,
    to,
    end,
    measures: call.measure(),
    conversation,
    heard: recording ? (phraseBook.recognise(recording.agent)?.text ?? '') : '',
    understood: understood.join(' '),
    tools: sessions.flatMap((session) => session.calls),
    sessions,
    notifications,
  }
}

/** What is known of a call that never came. */
export function factsOfNone(from: string, to: string): CallFacts {
  return {
    ...{ sid: '', from, to, end: { status: 'failed', by: 'time-limit' }, measures: null },
    ...{ conversation: [], heard: '', understood: '', tools: [], sessions: [], notifications: [] },
  }
}

function utterances(who: Utterance['who'], mulaw: Uint8Array, phraseBook: PhraseBook): Utterance[] {
  return talkSpans(mulaw).map(({ startMs, endMs }) => {
    const text = phraseBook.recognise(mulaw.subarray(startMs * BYTES_PER_MS, endMs * BYTES_PER_MS))?.text ?? null
    return { who, atMs: startMs, text }
  })
}
