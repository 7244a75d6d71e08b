import { type Clock, withTimeout } from '../kernel/clock.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { Log } from '../platform/log.ts'
import type { CallChange, CallVerb, CarrierAccount, TelephonyDriver } from '../platform/telephony/port.ts'
import type { Carriers } from '../platform/telephony/registry.ts'
import { LONGEST_CALL_SECONDS } from '../records/call-values.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { CarrierCalls, IsHeld, ShownApology } from '../voice/session-builder.ts'
import type { CarrierAnswers, HangUpOutcome } from '../voice/stream-ends.ts'
import { accountOf, askedBy, type PresentTenants } from './carrier-account.ts'
import type { Sentence } from './carrier-words.ts'
import { type AskedCall, mayAsk, tryThrice } from './three-tries.ts'

type Deps = {
  carriers: Carriers
  clock: Clock
  log: Pick<Log, 'warn' | 'error'>
  /** Where the token is looked for that took the place of one; not given: nowhere. */
  tenants?: PresentTenants
  /** Notes that the carrier has ended a call because it was asked to. */
  noteEnded(tenantId: TenantId, callSid: string): Promise<void>
}

/** What is done to live calls by way of their carriers, in the background. */
export type HangingUp = CarrierCalls &
  CarrierAnswers & {
    /**
     * The call may last for as long as the carrier lets any call: it goes to somebody else by the answer to what its carrier asked,
     * and by an answer alone that cannot be said.
     */
    letLast(tenant: TenantRuntime, callSid: string): void
    /**
     * What comes next for the call was the answer to what its carrier asked: an apology that it was to be asked for is not asked for any
     * more, as it would cut off whoever has answered by then.
     */
    dropApology(tenant: TenantRuntime, callSid: string): void
    /** Resolves when nothing is on its way any more; what the carrier does not answer within a second is given up. */
    close(): Promise<void>
  }

const RING_SECONDS = 30
/** A database that does not take it is not waited for: open calls are looked after. */
const NOTED_WITHIN_MS = 1_000
/** How long requests may go on once the process ends. */
export const LAST_REQUESTS_MS = 1_000
/** How long `close` takes at most. */
export const HANGING_UP_OVER_MS = LAST_REQUESTS_MS + NOTED_WITHIN_MS

type CarrierRequest = (carrier: TelephonyDriver, account: CarrierAccount, signal: AbortSignal) => Promise<void>
type Asking = { request: CarrierRequest; isHeld: IsHeld | undefined; isApology?: boolean; isEnd?: boolean }
type Running = { tenantId: TenantId; callSid: string; dropped: AbortController | null; done: Promise<void> }

/** Ends calls at their carriers, or sends them elsewhere: three tries each, because there is nobody who could try again. */
export function makeHangingUp({ carriers, clock, log, tenants, noteEnded }: Deps): HangingUp {
  const running = new Set<Running>()
  const closing = new AbortController()

  function start(tenant: TenantRuntime, callSid: string, asking: Asking): Promise<HangUpOutcome> {
    const { request, isHeld, isApology = false, isEnd = false } = asking
    const account = accountOf(tenant)
    const carrier = carriers[tenant.telephony.provider]
    const dropped = isApology ? new AbortController() : null
    const stopped = dropped ? AbortSignal.any([closing.signal, dropped.signal]) : closing.signal
    const asked = { callSid, isHeld, stopped, dropped: dropped?.signal }
    const outcome = account
      ? tryThrice({ clock, log }, asked, (signal) =>
          askedBy(tenants, { tenant, account }, (by) => request(carrier, by, signal)),
        )
      : notAsked(asked)
    const done = outcome
      .then((came) => (isEnd && isOver(came) ? note(tenant.tenant_id, callSid) : undefined))
      .finally(() => running.delete(entry))
    const entry: Running = { tenantId: tenant.tenant_id, callSid, dropped, done }
    running.add(entry)
    return outcome
  }

  async function note(tenantId: TenantId, callSid: string): Promise<void> {
    const late = () => new Error('it took too long')
    await withTimeout(clock, noteEnded(tenantId, callSid), NOTED_WITHIN_MS, late).catch((err: unknown) =>
      log.warn({ err, call_sid: callSid }, 'that a carrier has ended a call is not noted yet'),
    )
  }

  async function notAsked(asked: AskedCall): Promise<HangUpOutcome> {
    if (!(await mayAsk({ clock, log }, asked))) return 'left'
    log.warn({ call_sid: asked.callSid }, 'a call could not be ended: its tenant has no carrier account')
    return 'no_account'
  }

  return {
    hangUp: (tenant, callSid, isHeld) =>
      start(tenant, callSid, {
        request: (carrier, account, signal) => carrier.endCall(account, callSid, signal),
        // The end of a session is that of its call. Of any other call, which may only ring, its carrier tells how it ended.
        ...{ isHeld, isEnd: isHeld !== undefined },
      }),
    apologise: (tenant, callSid, words, isHeld) =>
      void start(tenant, callSid, {
        request: (carrier, account, signal) => carrier.updateCall(account, callSid, toldToGo(words), signal),
        ...{ isHeld, isApology: true },
      }),
    letLast(tenant, callSid) {
      const change = { maxSeconds: LONGEST_CALL_SECONDS }
      void start(tenant, callSid, {
        request: (carrier, account, signal) => carrier.updateCall(account, callSid, change, signal),
        isHeld: undefined,
      })
    },
    dropApology({ tenant_id: tenantId }, callSid) {
      for (const each of running) if (each.tenantId === tenantId && each.callSid === callSid) each.dropped?.abort()
    },
    async allAnswered() {
      await Promise.all([...running].map(({ done }) => done))
    },
    async answered({ tenant_id: tenantId }, callSid) {
      const ofCall = [...running].filter((each) => each.tenantId === tenantId && each.callSid === callSid)
      await Promise.all(ofCall.map(({ done }) => done))
    },
    async close() {
      const cancel = clock.after(LAST_REQUESTS_MS, () => closing.abort())
      await Promise.all([...running].map(({ done }) => done))
      cancel()
    },
  }
}

/** Whoever talks to the number then may do so as long as they like, which the carrier was told that the agent may not. */
function toldToGo({ text, number, callerId, ...inLanguage }: ShownApology): CallChange {
  return {
    verbs: sayAndGo(text === null ? null : { text, ...inLanguage }, number, { callerId }),
    ...(number !== null && { maxSeconds: LONGEST_CALL_SECONDS }),
  }
}

/** `callerId`: whose number they see there, as `shownNumber` has it. `action` is asked what comes next when that is over: without one, the end. */
type Going = { callerId?: string | null | undefined; action?: string | undefined }

/** A sentence, or null for none, and then the number; without one the end. */
export function sayAndGo(
  said: string | Sentence | null,
  number: string | null,
  { callerId = null, action }: Going = {},
): CallVerb[] {
  const rings = {
    ...(action !== undefined && { action }),
    ...{ callerId, timeoutSeconds: RING_SECONDS, maxSeconds: LONGEST_CALL_SECONDS },
  }
  const next: CallVerb = number === null ? { type: 'hangup' } : { type: 'dial', number, ...rings }
  if (said === null) return [next]
  return [{ type: 'say', ...(typeof said === 'string' ? { text: said } : said) }, next]
}

/** Without an account there is no word of a carrier to wait for. */
function isOver(outcome: HangUpOutcome): boolean {
  return outcome === 'ended' || outcome === 'no_account'
}
