import type { ResolvedAgent } from '../agents/resolve.ts'
import type { Dial } from './dial-gate.ts'

/** A call to be placed, with nothing left open. */
export type WantedCall = {
  kind: Dial['kind']
  from: string
  to: string
  orgId: string | null
  agent: ResolvedAgent
  /** Said in place of the agent's own. */
  greeting: string | null
  metadata: Record<string, unknown>
  callbackTaskId: string | null
  /** By which the request may be repeated; `freeBefore`: what was taken until then is free again. */
  key: { key: string; bodyHash: Buffer; freeBefore: Date } | null
}

/** Where the carrier asks and tells about a dial. */
export type DialAddresses = (dialRef: string) => { answer: string; status: string }
