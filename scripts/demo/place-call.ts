import { setTimeout as delay } from 'node:timers/promises'
import type { WrittenCaller } from '../../simulator/src/scenario/scenario-shape.ts'
import type { Api } from './api.ts'
import { followCall } from './follow-call.ts'
import { readStoredCall, type StoredCall } from './stored-call.ts'
import type { Telephone, TelephoneCall } from './telephone.ts'

/** A call to place, and what to do with it. */
export type PlacedCall = {
  from: string
  to: string
  caller: WrittenCaller
  say: (line: string) => void
  /** Told once the agent can hear the caller. */
  onTalking?: (sid: string) => void
  /** Lets the caller hang up. */
  signal: AbortSignal
}

const STREAM_TIMEOUT_MS = 20_000
const POLL_MS = 100

/**
 * Rings the running service, tells the conversation as it happens, and gives the record of it.
 *
 * @throws Error that says why there was no conversation when there was none.
 */
export async function placeCall(telephone: Telephone, tenant: Api, call: PlacedCall): Promise<StoredCall> {
  const { from, to, caller, say, signal } = call
  const { sid } = await telephone.ring({ from, to, caller })
  // The end of the call is waited for all the same; a carrier that is gone has no call to end.
  const hangUp = () => void telephone.hangUp(sid).catch(() => {})
  signal.addEventListener('abort', hangUp)
  try {
    if (signal.aborted) hangUp()
    const streamSid = await streamOf(telephone, tenant, sid)
    call.onTalking?.(sid)
    await followCall(tenant, { streamSid, say }).catch(async (error: unknown) => {
      // A call of a moment may be over before anybody could look at it; its record tells it all.
      if (!isOver(await telephone.look(sid))) throw error
    })
    return await readStoredCall(tenant, sid)
  } catch (error) {
    hangUp()
    throw error
  } finally {
    signal.removeEventListener('abort', hangUp)
  }
}

async function streamOf(telephone: Telephone, tenant: Api, sid: string): Promise<string> {
  const deadlineMs = performance.now() + STREAM_TIMEOUT_MS
  while (performance.now() < deadlineMs) {
    const call = await telephone.look(sid)
    const started = call.events.find((event) => event.kind === 'stream-started')
    if (started) return started.streamSid
    if (isOver(call)) throw new Error(`no conversation came about: ${await whyOf(tenant, call)}`)
    await delay(POLL_MS)
  }
  throw new Error('no conversation came about within 20 seconds')
}

function isOver({ events }: TelephoneCall): boolean {
  return events.some(({ kind }) => kind === 'hang-up')
}

/** What an operator can do about the service's own reasons, which its log has as `why`. */
const ADVICE: Record<string, string> = {
  overloaded: 'the machine is too busy for one more call; try again when it is calmer',
  process_full: 'as many calls as MAX_CALLS allows are going on',
  tenant_full: 'as many calls as limits.max_concurrent_calls of the tenant allows are going on',
  stopping: 'the service is about to stop',
  no_model: 'no realtime model is configured',
  no_agent: 'the number leads to an agent that has no published version',
}

/** Without a complaint of the carrier's it was the service's own wish, of which it has written down why. */
async function whyOf(tenant: Api, { sid, status, events }: TelephoneCall): Promise<string> {
  const complaints = events.flatMap((event) =>
    event.kind === 'notification' ? [`${event.code} ${event.message}`] : [],
  )
  if (complaints.length > 0) return complaints.join(', ')
  const why = await loggedReason(tenant, sid)
  if (why === null) return `the service did not connect the call (${status}); its log says why`
  return `the service did not take the call: ${why}${ADVICE[why] ? ` (${ADVICE[why]})` : ''}`
}

/** The `why` of the last line about the call that has one; null when there is none, or the log cannot be read. */
async function loggedReason(tenant: Api, sid: string): Promise<string | null> {
  try {
    const { logs } = await tenant.ask<{ logs: { why?: unknown }[] }>('GET', `/logs?call_sid=${sid}`)
    const why = logs.map((line) => line.why).filter((each) => typeof each === 'string')
    return why.at(0) ?? null
  } catch {
    return null
  }
}
