import { Type } from 'typebox'
import { nullable } from '../platform/http/schemas.ts'
import { storable } from './storable.ts'

/** How an answer came about, in ms since the session's start; see `TurnTimeline` of the API. */
export type JournaledTimeline = {
  speechEndMs: number
  committedMs: number
  askedMs: number | null
  firstByteMs: number
  firstSentMs: number
  heardMs: number
  tools: readonly { callId: string; name: string; startMs: number; endMs: number | null }[]
}

/** The same as it is stored, in the API's own words. */
export type StoredTimeline = {
  speech_end_ms: number
  committed_ms: number
  asked_ms: number | null
  first_byte_ms: number
  first_sent_ms: number
  heard_ms: number
  tools: { call_id: string; name: string; start_ms: number; end_ms: number | null }[]
}

const wholeMs = (description: string) => Type.Integer({ minimum: 0, description })

/** How an answer came about: whole ms since the session's start, in this order. */
export const TurnTimeline = Type.Object(
  {
    speech_end_ms: wholeMs("The caller's last sound, or key."),
    committed_ms: wholeMs('It was known that their turn was over, and meant.'),
    asked_ms: nullable(wholeMs('The model was asked for an answer, for the first time. Null: it began by itself.')),
    first_byte_ms: wholeMs("The first of the answer's audio came from the model."),
    first_sent_ms: wholeMs('It had been passed on to the carrier.'),
    heard_ms: wholeMs('It was heard, by what the carrier echoed, or by the clock where it did not.'),
    tools: Type.Array(
      Type.Object({
        call_id: Type.String(),
        name: Type.String(),
        start_ms: Type.Integer({ minimum: 0 }),
        end_ms: nullable(
          Type.Integer({ minimum: 0, description: 'Null: it was still running when the answer began.' }),
        ),
      }),
      { description: 'The tools that ran meanwhile, in the order in which they began.' },
    ),
  },
  { description: 'How this answer to the caller came about, in ms since the session began.' },
)

/** Writes a timeline as it is stored and shown. */
export function storedTimeline(timeline: JournaledTimeline): StoredTimeline {
  const { speechEndMs, committedMs, askedMs, firstByteMs, firstSentMs, heardMs, tools } = timeline
  return {
    speech_end_ms: Math.round(speechEndMs),
    committed_ms: Math.round(committedMs),
    asked_ms: wholeOrNull(askedMs),
    first_byte_ms: Math.round(firstByteMs),
    first_sent_ms: Math.round(firstSentMs),
    heard_ms: Math.round(heardMs),
    tools: tools.map(({ callId, name, startMs, endMs }) => ({
      call_id: storable(callId),
      name: storable(name),
      start_ms: Math.round(startMs),
      end_ms: wholeOrNull(endMs),
    })),
  }
}

function wholeOrNull(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms)
}
