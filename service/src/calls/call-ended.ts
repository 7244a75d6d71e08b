import type { Clock } from '../kernel/clock.ts'
import { countTimes, mergeTimes, packTimes, percentileMs, unpackTimes } from '../records/analytics/response-times.ts'
import { type SessionProgress, statusReport } from '../records/call-record.ts'
import type { SessionEndReason } from '../records/call-values.ts'
import type { HeldCall } from '../records/resuming.ts'
import { lacksUsage } from '../voice/earlier-latency.ts'
import type { SessionState } from '../voice/session/state.ts'
import type { EndedCall } from '../voice/session-builder.ts'
import type { AbandonedCall } from '../voice/stream-ends.ts'
import type { StreamedCall } from '../voice/streamed-call.ts'
import type { CallEnding } from './finish.ts'
import { NOTHING_SAID } from './record-status.ts'

/**
 * What is written down of a call whose session ended just now. The call was over when its carrier was gone; what came between
 * was the wait for the last transcripts.
 */
export function endingOf({ call, reason, state }: EndedCall, clock: Pick<Clock, 'now' | 'monotonicMs'>): CallEnding {
  const { tenant, callSid, epoch, next = [], streamSid } = call
  const waitedMs = state.carrierGoneAtMs === null ? 0 : clock.monotonicMs() - state.carrierGoneAtMs
  const at = new Date(clock.now() - waitedMs)
  return {
    tenantId: tenant.tenant_id,
    callSid,
    epoch,
    next,
    streamSid,
    session: { endReason: reason, at, ...progressOf(call, state) },
    ...(reason === 'carrier_lost' && state.ending?.isGuessed === false && { isForGood: true }),
    ...(reason === 'model_lost' && { isAtFallback: state.plan.fallbackNumber !== null }),
    call: call.direction !== 'browser' && mayGoOn(reason, state) ? null : statusReport('completed', at),
  }
}

/** Whether the call may go on without us: elsewhere, or because its carrier has not ended it. Then that tells how it ends. */
function mayGoOn(reason: EndedCall['reason'], { ending, plan }: SessionState): boolean {
  return (reason === 'model_lost' && plan.fallbackNumber !== null) || ending?.isUntold === true
}

/** What is written down of a call whose stream got it and never came to its session. */
export function abandonedOf({ tenantId, callSid, epoch, isOver }: AbandonedCall, at: Date): CallEnding {
  const endReason: SessionEndReason = isOver ? 'caller_hangup' : 'carrier_lost'
  const session = { ...NOTHING_SAID, endReason, at }
  return { tenantId, callSid, epoch, session, call: statusReport('completed', at) }
}

/** A call as the records know who has it. */
export function heldCall({ tenant, callSid, epoch, next = [] }: StreamedCall): HeldCall {
  return { tenantId: tenant.tenant_id, callSid, epoch, next }
}

/** What has come of a session so far. */
export function progressOf(
  { handedTo = null, before = null }: Pick<StreamedCall, 'handedTo' | 'before'>,
  state: SessionState,
): SessionProgress {
  const { usage, costUsd } = state
  const spoken = spokenBy(state)
  const answered = answeredBy(state)
  const told = { ...(handedTo && { handedTo }), ...(spoken && { spoken }), ...(answered && { answered }) }
  const isPartial = before !== null && lacksUsage(before)
  return { latency: latencyOf(state), usage, costUsd, ...(isPartial && { isPartial }), ...told }
}

/** Who or what answered, as far as it was found out here. */
function answeredBy({ party }: SessionState): SessionProgress['answered'] | null {
  if (!party || party.by === null) return null
  return { answered_by: party.by, answered_by_source: party.from }
}

/** Who speaks by now, which may be others than those with whom the session began. */
function spokenBy({ plan: { speaker, fallback }, model, secondVoice }: SessionState): SessionProgress['spoken'] | null {
  if (!speaker) return null
  const audioOutput = secondVoice.isOn ? 'secondary' : 'primary'
  return { ...speaker, ...(model.isFallback && { model: fallback?.model ?? null }), audioOutput }
}

function latencyOf({ latency }: SessionState) {
  const { greetingMs, interruptions } = latency
  return { greetingMs, interruptions, ...answerTimesOf(latency) }
}

/** Of the whole call: of answers that an earlier session has given a histogram is left. None of its own say nothing new of them. */
function answerTimesOf({ responsesMs, earlierTimes }: SessionState['latency']) {
  const inOrder = responsesMs.toSorted((a, b) => a - b)
  const own = countTimes(inOrder)
  if (earlierTimes === null || inOrder.length === 0)
    return {
      responseP50Ms: percentile(inOrder, 50),
      responseP95Ms: percentile(inOrder, 95),
      responseTimes: packTimes(own),
    }
  const all = mergeTimes([unpackTimes(earlierTimes), own])
  return { responseP50Ms: percentileMs(all, 50), responseP95Ms: percentileMs(all, 95), responseTimes: packTimes(all) }
}

/** The smallest value that so many percent do not exceed; null of none. */
function percentile(inOrder: number[], percent: number): number | null {
  return inOrder[Math.max(0, Math.ceil((inOrder.length * percent) / 100) - 1)] ?? null
}
