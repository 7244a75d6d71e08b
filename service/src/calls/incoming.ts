import { RecentAnswers } from '../agents/recent-answers.ts'
import type { ResolvedAgent } from '../agents/resolve.ts'
import { AppError, invalidRequest } from '../kernel/errors.ts'
import type { TenantId } from '../kernel/ids.ts'
import { type PhoneNumber, phoneNumberOf } from '../kernel/phone.ts'
import type { CallVerb } from '../platform/telephony/port.ts'
import { DEFAULT_CARRIER, type TelephonyProvider } from '../platform/telephony/registry.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { withinTime } from './answer-time.ts'
import { carrierSentence } from './carrier-words.ts'
import { sayAndGo } from './hang-up.ts'
import type { CallbackSignatures } from './incoming-signature.ts'
import { type DialledNumber, findDialledAcrossTenants } from './incoming-store.ts'
import { type IncomingCall, makeTakingCalls, NOT_IN_SERVICE, type TakeDeps } from './take-incoming.ts'

/** What a carrier is to do, and which one: each has a language of its own. */
export type CarrierAnswer = { provider: TelephonyProvider; verbs: CallVerb[] }

/** Of a call of which it is not even known whose it is. */
const UNKNOWN: CarrierAnswer = {
  provider: DEFAULT_CARRIER,
  verbs: sayAndGo(
    carrierSentence(({ untaken }) => untaken, null),
    null,
  ),
}

/** What a carrier never hears. */
const REFUSALS = new Set<AppError['code']>(['unauthorized', 'invalid_request'])

/** Answers calls that come in. */
export type Incoming = {
  /**
   * What the carrier shall do with the call: connect it to an agent by a stream, or, where no agent can talk, connect the
   * tenant's fallback number, or say a sentence and hang up. Where only this node takes no calls any more, and another one does,
   * the carrier is to ask again, five times at most. The same call again gets the same session and a new token.
   *
   * @throws AppError `unauthorized` when the request is not the carrier's, `invalid_request` when it names no call, and for
   * nothing else: to a caller an error would be a tone.
   */
  answer(call: IncomingCall): Promise<CarrierAnswer>
}

type Deps = TakeDeps & {
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  signatures: CallbackSignatures
}

/**
 * One request to take a call: whose it turned out to be, once its signature is known to be right; whether it is too late; and who
 * is to speak, as far as that is known.
 */
type Attempt = { tenant: TenantRuntime | null; isLate: boolean; agentKey: string | null; agent: ResolvedAgent | null }

/** Of a process that takes no calls and asks nobody anything: each caller hears a sentence. */
export function makeNotTaking({ log, signatures }: Pick<Deps, 'log' | 'signatures'>): Incoming {
  return {
    async answer(call) {
      signatures.expectSigned(call.signed)
      log.warn({ call_sid: call.callSid }, 'a call was not taken: STANDBY is true')
      return UNKNOWN
    },
  }
}

export function makeIncoming(deps: Deps): Incoming {
  const { db, clock, log, tenants, signatures } = deps
  const { take, refuse } = makeTakingCalls(deps)
  const dialled = new RecentAnswers<DialledNumber>({
    clock,
    onFault: (number, err) =>
      log.error(
        { err, pii: { number } },
        'a number cannot be looked up: calls to it go on to who was last known to hold it',
      ),
  })

  function lookUp(sent: string): Promise<DialledNumber | null> {
    const number = phoneNumberOf(sent)
    if (number === null) return Promise.resolve(null)
    // As the carrier has it, first: a number that is held may have been written down with a prefix of its country.
    return dialled.get(sent, async () => {
      const held = await findDialledAcrossTenants(db, sent as PhoneNumber)
      return held || number === sent ? held : findDialledAcrossTenants(db, number)
    })
  }

  async function answer(call: IncomingCall, attempt: Attempt): Promise<CarrierAnswer> {
    signatures.expectSigned(call.signed)
    const number = await lookUp(call.to)
    const tenant = number && (await tenants.get(number.tenantId))
    if (!tenant) {
      await signatures.expectFromAccount(call.accountSid, call.signed)
      log.warn({ call_sid: call.callSid }, 'a call to a number that no tenant holds')
      return { provider: DEFAULT_CARRIER, verbs: sayAndGo(NOT_IN_SERVICE, null) }
    }
    signatures.expectFrom(tenant, call.signed)
    if (call.callSid === '') throw invalidRequest([{ path: '/body/CallSid', message: 'must be the id of a call' }])
    attempt.tenant = tenant
    return { provider: tenant.telephony.provider, verbs: await take({ tenant, call, attempt }, number.agentKey) }
  }

  /** What is said when the answer takes so long that the carrier would give up. */
  function late(call: IncomingCall, attempt: Attempt): CarrierAnswer {
    attempt.isLate = true
    const { tenant } = attempt
    if (tenant) return { provider: tenant.telephony.provider, verbs: refuse({ tenant, call, attempt }, 'too_slow') }
    log.error({ call_sid: call.callSid }, 'a call could not be looked up in time')
    return UNKNOWN
  }

  return {
    async answer(call) {
      const attempt: Attempt = { tenant: null, isLate: false, agentKey: null, agent: null }
      try {
        return await withinTime(clock, answer(call, attempt), () => late(call, attempt))
      } catch (err) {
        if (err instanceof AppError && REFUSALS.has(err.code)) throw err
        // Not even the tenant is known, so nothing can be checked, and nothing is given away.
        log.error({ err, call_sid: call.callSid }, 'a call could not be looked up')
        return UNKNOWN
      }
    },
  }
}
