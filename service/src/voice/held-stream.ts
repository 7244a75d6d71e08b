import type { NextHolder } from '../records/call-holder.ts'
import type { EarlierStream } from '../records/sessions.ts'
import { NOT_ANSWERED } from '../records/transcript-store.ts'
import type { CallSession } from './call-session.ts'
import { earlierCost, earlierLatency } from './earlier-latency.ts'
import type { HeldStream } from './live-sessions.ts'
import { ANSWERED_BY } from './session/party.ts'
import type { Resumption } from './session/resumption.ts'
import { endCall } from './tools/end-call.ts'
import { sendDtmf } from './tools/send-dtmf.ts'

/** So many notes, tool calls and model sessions no stream of a call has: what is named for them stays apart by this. */
const IDS_PER_EPOCH = 100_000

/** What names the stream that has a call; it changes with that. */
type NamedStream = { streamSid: string; epoch: number; next?: readonly NextHolder[] }

/** The session of a call as its other streams see it; `call` becomes that of the stream which has it. */
export function holdOf(session: CallSession, call: NamedStream): HeldStream {
  return {
    get epoch() {
      return call.epoch
    },
    get next() {
      return call.next ?? []
    },
    expect(holder) {
      call.next = [...(call.next ?? []), holder]
      return {
        came(streamSid) {
          Object.assign(call, { streamSid, epoch: holder.epoch, next: [] })
        },
        failed() {
          call.next = call.next?.filter((one) => one !== holder) ?? []
        },
      }
    },
    attach: (stream) => (session.isAttachable ? session.attach(stream) : null),
  }
}

/** What a new session goes on from, by what is stored of its call. */
export function resumptionOf(before: EarlierStream, epoch: number, now: Date): Resumption {
  const { startedAt, turns, toolCalls, usage, isRecordingPaused } = before
  return {
    elapsedMs: Math.max(0, now.getTime() - startedAt.getTime()),
    turns: turns.map(({ role, seq, text, unheard }) => ({ role, seq, text, unheard })),
    toolCalls: toolCalls.map((call) => ({
      ...{ name: call.name, argumentsText: call.arguments, result: isAnswered(call) ? call.result : null },
      afterTurns: turns.findLastIndex(({ start_ms }) => start_ms <= call.start_ms) + 1,
      isOwed: isOwed(turns, call),
    })),
    usage: {
      inputTokens: usage.input_tokens,
      outputTokens: usage.output_tokens,
      cachedTokens: usage.cached_tokens,
      audioSeconds: usage.audio_seconds,
    },
    costUsd: earlierCost(before),
    ...earlierLatency(before),
    idBase: (epoch - 1) * IDS_PER_EPOCH,
    isRecordingPaused,
    answered: heardOf(before.answered),
  }
}

/** What carriers say is told anew with the stream. */
function heardOf({ answered_by: by, answered_by_source: from }: EarlierStream['answered']) {
  if (from === null || from === 'carrier') return null
  const known = ANSWERED_BY.find((one) => one === by)
  return known ? { by: known, from } : null
}

type Turns = EarlierStream['turns']
type ToolCall = EarlierStream['toolCalls'][number]

function isAnswered({ result }: ToolCall): boolean {
  return result !== NOT_ANSWERED
}

/**
 * Whether the agent was to speak of a tool and has not, which may have said before that it will look something up: it has begun to say
 * nothing since the answer, or, where there was none, the caller has said nothing since the call. Of keys that it presses it says nothing,
 * nor of an end that has not come.
 */
function isOwed(turns: Turns, call: ToolCall): boolean {
  const { name, status, start_ms: startMs, duration_ms: durationMs } = call
  if ((name === sendDtmf.declaration.name || name === endCall.declaration.name) && status === 'ok') return false
  const hasSince = (by: 'caller' | 'agent', atMs: number) => turns.some((one) => one.role === by && one.start_ms > atMs)
  return isAnswered(call) ? !hasSince('agent', startMs + durationMs) : !hasSince('caller', startMs)
}
