import type { Clock } from '../kernel/clock.ts'
import type { Outbound } from '../platform/outbound/outbound.ts'
import type { Send } from './attempt.ts'
import { post, type Target } from './post.ts'

/** Sends what calls cost to the address of the operator's billing. */
export function makeSendBilling(deps: { clock: Clock; outbound: Outbound; target: Target }): Send {
  const { target } = deps
  return (row, signal) => post(deps, row, { target, signal })
}
