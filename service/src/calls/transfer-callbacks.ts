import { type Clock, withTimeout } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import type { NodeId, TenantId } from '../kernel/ids.ts'
import type { Bus } from '../platform/bus/port.ts'
import type { Log } from '../platform/log.ts'
import type { CallVerb, SignedRequest } from '../platform/telephony/port.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { StreamTokens } from '../voice/stream-token.ts'
import { askAgain } from './ask-again.ts'
import { carrierSentence } from './carrier-words.ts'
import type { CarrierAnswer } from './incoming.ts'
import type { CallbackSignatures } from './incoming-signature.ts'
import type { PutThrough } from './put-through.ts'

/** What the node that puts a call through is asked and told about the target. */
export type TransferQuestion =
  | { type: 'answered'; id: string }
  | { type: 'key'; id: string; digits: string }
  | { type: 'status'; id: string; status: string }

/** What a carrier asks or tells of a target: the address names the transfer. `again`: how often in a row it was told to ask again. */
export type OfTarget = { token: string; again?: number; signed: SignedRequest }
type Asked = { type: 'answered' } | { type: 'key'; digits: string } | { type: 'status'; status: string }

/** Takes what carriers ask and tell of the targets of transfers, on whatever node. */
export type TransferCallbacks = {
  /**
   * What comes next for the target. Where the node that has the call lives and cannot be asked, the carrier is to ask again, five
   * times at most: another node may be asked then, or the others be within reach.
   *
   * @throws AppError `unauthorized` for an address that is none of ours, or a request that is not the carrier's; `unavailable`
   * for a status that such a node could not be told.
   */
  next(of: OfTarget, asked: Asked): Promise<CarrierAnswer>
}

type Deps = {
  clock: Clock
  log: Pick<Log, 'warn'>
  bus: Bus
  tokens: Pick<StreamTokens, 'readTransfer'>
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  signatures: Pick<CallbackSignatures, 'expectFrom'>
  putThrough: PutThrough
  /** Whether a node was heard from lately. */
  isLive(node: NodeId): Promise<boolean>
}

/** Carriers wait for 15 s, and ours may have to be asked meanwhile. */
const ANSWER_WITHIN_MS = 8_000
const LIVE_WITHIN_MS = 2_000

/** Where a node is asked about the transfers of its calls. */
export const transfersTopic = (node: NodeId): string => `transfers/${node}`

export function makeTransferCallbacks(deps: Deps): TransferCallbacks {
  const { clock, log, bus, tokens, tenants, signatures, putThrough } = deps

  /** Whether asking again may help. Who cannot tell takes the node to be there. */
  async function mayAnswer(node: NodeId, err: unknown): Promise<boolean> {
    if (!(err instanceof AppError && err.code === 'unavailable')) return false
    return withTimeout(clock, deps.isLive(node), LIVE_WITHIN_MS, () => new Error('too late')).catch(() => true)
  }

  return {
    async next({ token, again = 0, signed }, asked) {
      const claims = tokens.readTransfer(token)
      const tenant = claims && (await tenants.get(claims.tenant))
      if (!claims || !tenant) throw new AppError('unauthorized', 'The address is none that this service has given.')
      signatures.expectFrom(tenant, signed)
      const { provider } = tenant.telephony
      const question = { ...asked, id: claims.transfer } satisfies TransferQuestion
      try {
        const verbs = await bus.ask(transfersTopic(claims.node), question, ANSWER_WITHIN_MS)
        return { provider, verbs: verbs as CallVerb[] }
      } catch (err) {
        log.warn({ err, call_sid: claims.call_sid }, 'the node that puts a call through does not answer')
        // Who has the call keeps it: nobody is to fetch it back. A target that has only picked up has no call.
        const isTheirs = asked.type === 'status' && asked.status === 'in-progress' && claims.warm !== true
        if (isTheirs) await putThrough(tenant, claims.call_sid)
        if (isTheirs || !(await mayAnswer(claims.node, err))) return { provider, verbs: callerGone(null) }
        if (asked.type === 'status') throw err
        return { provider, verbs: askAgain(sameAddress(signed, asked), again) ?? callerGone(null) }
      }
    },
  }
}

/** What a target hears who is too late, in the language of the agent where that is known. */
export function callerGone(language: string | null): CallVerb[] {
  const sentence = carrierSentence((words) => words.callerGone, language)
  return [{ type: 'say', ...sentence }, { type: 'hangup' }]
}

/** What carriers ask anew says no more which key was pressed, so the address does. */
function sameAddress({ url }: SignedRequest, asked: Asked): string {
  const address = new URL(url)
  if (asked.type === 'key') address.searchParams.set('digits', asked.digits)
  return address.toString()
}
