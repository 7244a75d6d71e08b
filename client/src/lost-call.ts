import type { Methods } from './answers.ts'
import { ANSWERED_WITHIN_MS, type LiveStreams } from './live-streams.ts'
import { pause, unlessAborted, upToTwice, within } from './pause.ts'
import { askedMs, mayPass, ParleyError } from './refusal.ts'

type Signal = AbortSignal | undefined

/** Another node has a call whose node is gone within half of this half minute, or nobody has it. */
const LOOKED_FOR_MS = 30_000
/** From one look at its log to the next; twice as long after each. */
const LOG_INTERVAL_MS = 4_000
/** Between one question of which call a session is and the next, while that is refused for the time being. */
const ASKED_AGAIN_MS = 2_000
const MAX_ASKED_AGAIN_MS = 16_000
/** What its log says of a call that is not over. */
const GOES_ON = ['queued', 'initiated', 'ringing', 'in-progress']

/** Of which call the live session is; null where nobody says that before the signal aborts. */
export async function callOf(parley: Methods, streamSid: string, signal: AbortSignal): Promise<string | null> {
  const params = { path: { stream_sid: streamSid } }
  for (let pauseMs = ASKED_AGAIN_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_ASKED_AGAIN_MS)) {
    const answer = await parley.GET('/api/v1/sessions/{stream_sid}', { params, signal }).catch(() => null)
    if (answer?.data) return answer.data.session.call_sid
    const refusal = answer && new ParleyError(answer.error, answer.response)
    if (refusal && !mayPass(refusal)) return null
    await pause(Math.max(upToTwice(pauseMs), askedMs(refusal)), signal)
    if (signal.aborted) return null
  }
}

/** A call that was watched by a stream that is lost. */
type LostCall = { callSid: string; streamSid: string }

/**
 * The stream by which the call goes on, as soon as it has one, the lost one only where it has no other; null when it is over, or had none for half a minute.
 * @throws ParleyError for what is refused for good; and what was wrong with the last look, where nobody has said by then where
 * the live calls are.
 */
export async function nextStreamOf(
  { parley, live }: { parley: Methods; live: LiveStreams },
  { callSid, streamSid }: LostCall,
  signal: Signal,
): Promise<string | null> {
  const leave = live.enter()
  const untilMs = performance.now() + LOOKED_FOR_MS
  try {
    for (let logAtMs = 0, intervalMs = LOG_INTERVAL_MS; ; ) {
      const { streams, error } = await unlessAborted(live.next(), signal)
      const [stream, ...others] = streams?.get(callSid) ?? []
      if (stream !== undefined) return [stream, ...others].find((each) => each !== streamSid) ?? stream
      const nowMs = performance.now()
      if (streams === null && (!mayPass(error) || nowMs >= untilMs)) throw error
      if (nowMs >= untilMs) return null
      if (streams === null || nowMs < logAtMs) continue
      if (await isOver(parley, callSid, signal)) return null
      logAtMs = nowMs + upToTwice(intervalMs)
      intervalMs *= 2
    }
  } finally {
    leave()
  }
}

/** Also where no call is written down: there is no other node then. */
async function isOver(parley: Methods, callSid: string, signal: Signal): Promise<boolean> {
  const params = { path: { call_sid: callSid } }
  const asked = within(ANSWERED_WITHIN_MS, signal, (ending) =>
    parley.GET('/api/v1/call-logs/{call_sid}', { params, signal: ending }),
  )
  const answer = await asked.catch(() => null)
  if (answer?.data) return !GOES_ON.includes(answer.data.call_log.status)
  const code = answer?.error?.code
  return code === 'not_found' || code === 'database_not_configured'
}
