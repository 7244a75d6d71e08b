import type { Methods } from './answers.ts'
import { pause } from './pause.ts'
import { mayPass, ParleyError } from './refusal.ts'

type Signal = AbortSignal | undefined

const by = (signal: Signal) => ({ signal: signal ?? null })

/** Another node has a call whose node is gone within half of this half minute, or nobody has it. */
const LOOKS = 30
const LOOK_INTERVAL_MS = 1_000
/** What its log says of a call that is not over. */
const GOES_ON = ['queued', 'initiated', 'ringing', 'in-progress']

/** Of which call the live session is; null where that is not answered. */
export async function callOf(parley: Methods, streamSid: string, signal: Signal): Promise<string | null> {
  const params = { path: { stream_sid: streamSid } }
  const answer = await parley.GET('/api/v1/sessions/{stream_sid}', { params, ...by(signal) }).catch(() => null)
  return answer?.data?.session.call_sid ?? null
}

/**
 * The stream by which the call goes on, as soon as it has one; null when it is over, or had none for half a minute.
 * @throws ParleyError for what is refused for good.
 */
export async function nextStreamOf(parley: Methods, callSid: string, signal: Signal): Promise<string | null> {
  for (let look = 1; look <= LOOKS; look++) {
    const found = (await liveCalls(parley, signal)).find(({ call_sid }) => call_sid === callSid)
    if (found) return found.stream_sid
    if (await isOver(parley, callSid, signal)) return null
    await pause(LOOK_INTERVAL_MS, signal)
    signal?.throwIfAborted()
  }
  return null
}

async function liveCalls(parley: Methods, signal: Signal) {
  const answer = await parley.GET('/api/v1/sessions/active', by(signal)).catch(() => null)
  const refusal = answer?.error && new ParleyError(answer.error, answer.response)
  if (refusal && !mayPass(refusal)) throw refusal
  return answer?.data?.sessions ?? []
}

/** Also where no call is written down: there is no other node then. */
async function isOver(parley: Methods, callSid: string, signal: Signal): Promise<boolean> {
  const params = { path: { call_sid: callSid } }
  const answer = await parley.GET('/api/v1/call-logs/{call_sid}', { params, ...by(signal) }).catch(() => null)
  if (answer?.data) return !GOES_ON.includes(answer.data.call_log.status)
  const code = answer?.error?.code
  return code === 'not_found' || code === 'database_not_configured'
}
