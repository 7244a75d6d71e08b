import { type Clock, withTimeout } from '../kernel/clock.ts'
import type { StreamedCall } from '../voice/streamed-call.ts'

/** Whether a call is still that of its stream, and no other stream is on its way to it. While that cannot be found out it is taken to be. Never rejects. */
export type StillOurs = (call: StreamedCall) => Promise<boolean>

const KNOWN_WITHIN_MS = 2_000

/** @param isHeld what the records say. */
export function makeStillOurs(clock: Clock, isHeld: (call: StreamedCall) => Promise<boolean>): StillOurs {
  const late = () => new Error('it could not be found out in time who has a call')
  return (call) => withTimeout(clock, isHeld(call), KNOWN_WITHIN_MS, late).catch(() => true)
}
