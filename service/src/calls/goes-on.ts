import type { GoesOn } from '../operators/missed-calls.ts'
import { isOver } from '../records/call-status.ts'
import type { CarrierRequests } from './carrier-requests.ts'

/** Asks the carrier of a call. One that it does not know is over. */
export function makeGoesOn(requests: Pick<CarrierRequests, 'make'>): GoesOn {
  return async (tenant, callSid) => {
    const answer = await requests.make(tenant, (carrier, account, signal) =>
      carrier.fetchCall(account, callSid, signal),
    )
    if (answer.type === 'done') return answer.value !== null && !isOver(answer.value.status)
    return answer.type === 'refused' ? false : null
  }
}
