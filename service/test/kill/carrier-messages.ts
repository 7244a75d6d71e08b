import type { FaultOptions } from '../../../simulator/src/carrier/faults.ts'
import type { SeenCall } from './call-watch.ts'
import type { AfterLoss } from './options.ts'

/** How the carrier and the model are started in their process. */
export type CarrierStart = { accountSid: string; authToken: string; seed: number; faults: FaultOptions }

/**
 * Calls to make: one every `everyMs` while fewer than so many are live. Callers hang up after so many orders, of which they leave
 * out the first ones. `afterLoss`: what becomes of calls from now on that lose their stream; as it was without it.
 */
export type Ringing = {
  to: string
  calls: number
  everyMs: number
  orders: number
  skipped?: number
  afterLoss?: AfterLoss
  voiceUrl: string
  statusCallback: string
}

/** What the process is asked, and what it answers. */
export type CarrierAsk = ({ do: 'ring' } & Ringing) | { do: 'look' } | { do: 'stop-ringing' } | { do: 'hang-up' }
export type CarrierAnswer = { carrierUrl: string; modelUrl: string } | SeenCall[]
