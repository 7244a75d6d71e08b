import { type Clock, withDeadline, withTimeout } from '../kernel/clock.ts'
import type { Log } from '../platform/log.ts'
import { CarrierError } from '../platform/telephony/port.ts'
import type { IsHeld } from '../voice/session-builder.ts'
import type { HangUpOutcome } from '../voice/stream-ends.ts'
import { pause } from './pause.ts'

type Deps = { clock: Clock; log: Pick<Log, 'warn' | 'error'> }

/**
 * A call that its carrier is asked to change. `isHeld`: whether it is still ours; not given: it is. `stopped`: what may end the tries
 * early, `dropped` among that, which also says that the change is not wanted any more.
 */
export type AskedCall = {
  callSid: string
  isHeld: IsHeld | undefined
  stopped: AbortSignal
  dropped: AbortSignal | undefined
}

/** Each try may take this long; the pause before the next. After the last the call is left to its own end. */
const TRY_TIMEOUT_MS = 5_000
const PAUSES_MS = [500, 2_000]
/** The call goes on unheard meanwhile. */
const HELD_WITHIN_MS = 1_000

const WORTH_ANOTHER_TRY = new Set<CarrierError['kind']>(['unknown', 'unreachable', 'busy'])

/**
 * Asks the carrier three times at most, because there is nobody who could try again. Another node may have sent the call elsewhere
 * between two tries: it is left then.
 */
export async function tryThrice(
  deps: Deps,
  asked: AskedCall,
  request: (signal: AbortSignal) => Promise<void>,
): Promise<HangUpOutcome> {
  const { clock, log } = deps
  const { callSid, stopped, dropped } = asked
  for (let tries = 0; await mayAsk(deps, asked); tries += 1) {
    const err = await failureOf(clock, stopped, request)
    if (err === null) return 'ended'
    if (dropped?.aborted) break
    const pauseMs = isWorthAnotherTry(err) ? PAUSES_MS[tries] : undefined
    if (pauseMs !== undefined) await pause(clock, pauseMs, stopped)
    if (dropped?.aborted) break
    if (pauseMs === undefined || stopped.aborted) {
      log.error({ err, call_sid: callSid }, 'the carrier did not take a request')
      return 'failed'
    }
  }
  return 'left'
}

/** Whoever has taken the call meanwhile keeps it. While that cannot be found out the call is taken to be ours. */
export async function mayAsk({ clock, log }: Deps, { callSid, isHeld, stopped, dropped }: AskedCall): Promise<boolean> {
  const late = () => new Error('it could not be found out in time who has a call')
  // Once the process ends there is no time left to be asked anything in.
  const isAsked = isHeld !== undefined && !stopped.aborted
  const isOurs = isAsked ? await withTimeout(clock, isHeld(), HELD_WITHIN_MS, late).catch(() => true) : true
  if (!isOurs) log.warn({ call_sid: callSid }, 'a call was left to the stream that has taken it')
  return isOurs && !dropped?.aborted
}

/** Null when the carrier has done it. */
async function failureOf(
  clock: Clock,
  stopped: AbortSignal,
  request: (signal: AbortSignal) => Promise<void>,
): Promise<unknown> {
  return withDeadline(clock, TRY_TIMEOUT_MS, request, stopped).then(
    () => null,
    (error: unknown) => error,
  )
}

function isWorthAnotherTry(error: unknown): boolean {
  return error instanceof CarrierError && WORTH_ANOTHER_TRY.has(error.kind)
}
