import type { FaultOptions } from '../../../simulator/src/carrier/faults.ts'
import type { SeenCall } from './call-watch.ts'

/** How the carrier and the model are started in their process. */
export type CarrierStart = { accountSid: string; authToken: string; seed: number; faults: FaultOptions }

/** Calls to make: one every `everyMs` until so many have a stream. */
export type Ringing = { to: string; calls: number; everyMs: number; voiceUrl: string; statusCallback: string }

/** What the process is asked, and what it answers. */
export type CarrierAsk = ({ do: 'ring' } & Ringing) | { do: 'look' } | { do: 'hang-up' }
export type CarrierAnswer = { carrierUrl: string; modelUrl: string } | SeenCall[]
