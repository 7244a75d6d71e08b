import { type Clock, withTimeout } from '../kernel/clock.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { Log } from '../platform/log.ts'
import {
  type CallChange,
  type CallVerb,
  type CarrierAccount,
  CarrierError,
  type TelephonyDriver,
} from '../platform/telephony/port.ts'
import type { Carriers } from '../platform/telephony/registry.ts'
import { LONGEST_CALL_SECONDS } from '../records/call-values.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { Apology } from '../voice/session/events.ts'
import type { CarrierCalls, IsHeld } from '../voice/session-builder.ts'
import type { CarrierAnswers, HangUpOutcome } from '../voice/stream-ends.ts'
import type { Sentence } from './carrier-words.ts'
import { pause } from './pause.ts'

type Deps = {
  carriers: Carriers
  clock: Clock
  log: Pick<Log, 'warn' | 'error'>
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

/** Each try may take this long; the pause before the next. After the last the call is left to its own end. */
const TRY_TIMEOUT_MS = 5_000
const PAUSES_MS = [500, 2_000]
const RING_SECONDS = 30
/** The call goes on unheard meanwhile. */
const HELD_WITHIN_MS = 1_000
/** A database that does not take it is not waited for: open calls are looked after. */
const NOTED_WITHIN_MS = 1_000
/** How long requests may go on once the process ends. */
export const LAST_REQUESTS_MS = 1_000
/** How long `close` takes at most. */
export const HANGING_UP_OVER_MS = LAST_REQUESTS_MS + NOTED_WITHIN_MS

type CarrierRequest = (carrier: TelephonyDriver, account: CarrierAccount, signal: AbortSignal) => Promise<void>
type Asking = { request: CarrierRequest; isHeld: IsHeld | undefined; isApology?: boolean; isEnd?: boolean }
type Running = { tenantId: TenantId; callSid: string; dropped: AbortController | null; done: Promise<void> }

/** `stopped`: what may end it early, `dropped` among that. */
type Asked = { callSid: string; isHeld: IsHeld | undefined; stopped: AbortSignal; dropped: AbortSignal | undefined }

/** Ends calls at their carriers, or sends them elsewhere: three tries each, because there is nobody who could try again. */
export function makeHangingUp({ carriers, clock, log, noteEnded }: Deps): HangingUp {
  const running = new Set<Running>()
  const closing = new AbortController()

  function start(tenant: TenantRuntime, callSid: string, asking: Asking): Promise<HangUpOutcome> {
    const { request, isHeld, isApology = false, isEnd = false } = asking
    const account = accountOf(tenant)
    const carrier = carriers[tenant.telephony.provider]
    const dropped = isApology ? new AbortController() : null
    const stopped = dropped ? AbortSignal.any([closing.signal, dropped.signal]) : closing.signal
    const asked = { callSid, isHeld, stopped, dropped: dropped?.signal }
    const outcome = account ? tryThrice(asked, (signal) => request(carrier, account, signal)) : notAsked(asked)
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

  /** Whoever has taken the call meanwhile keeps it. While that cannot be found out the call is taken to be ours. */
  async function mayAsk({ callSid, isHeld, stopped, dropped }: Asked): Promise<boolean> {
    const late = () => new Error('it could not be found out in time who has a call')
    // Once the process ends there is no time left to be asked anything in.
    const isAsked = isHeld !== undefined && !stopped.aborted
    const isOurs = isAsked ? await withTimeout(clock, isHeld(), HELD_WITHIN_MS, late).catch(() => true) : true
    if (!isOurs) log.warn({ call_sid: callSid }, 'a call was left to the stream that has taken it')
    return isOurs && !dropped?.aborted
  }

  async function notAsked(asked: Asked): Promise<HangUpOutcome> {
    if (!(await mayAsk(asked))) return 'left'
    log.warn({ call_sid: asked.callSid }, 'a call could not be ended: its tenant has no carrier account')
    return 'no_account'
  }

  /** Another node may have sent the call elsewhere between two tries, too. */
  async function tryThrice(asked: Asked, request: (signal: AbortSignal) => Promise<void>): Promise<HangUpOutcome> {
    const { callSid, stopped, dropped } = asked
    for (let tries = 0; await mayAsk(asked); tries += 1) {
      const err = await outcomeOf(stopped, request)
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

  async function outcomeOf(stopped: AbortSignal, request: (signal: AbortSignal) => Promise<void>): Promise<unknown> {
    const stopping = new AbortController()
    const cancel = clock.after(TRY_TIMEOUT_MS, () => stopping.abort())
    return request(AbortSignal.any([stopping.signal, stopped]))
      .then(
        () => null,
        (error: unknown) => error,
      )
      .finally(cancel)
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
function toldToGo({ text, number, ...inLanguage }: Apology): CallChange {
  return {
    verbs: sayAndGo(text === null ? null : { text, ...inLanguage }, number),
    ...(number !== null && { maxSeconds: LONGEST_CALL_SECONDS }),
  }
}

/**
 * A sentence, or null for none, and then the number; without one the end. `action` is asked what comes next when that is over:
 * without one, the end.
 */
export function sayAndGo(said: string | Sentence | null, number: string | null, action?: string): CallVerb[] {
  const rings = {
    ...(action !== undefined && { action }),
    ...{ callerId: null, timeoutSeconds: RING_SECONDS, maxSeconds: LONGEST_CALL_SECONDS },
  }
  const next: CallVerb = number === null ? { type: 'hangup' } : { type: 'dial', number, ...rings }
  if (said === null) return [next]
  return [{ type: 'say', ...(typeof said === 'string' ? { text: said } : said) }, next]
}

/** The account that the tenant's calls are placed and ended with; null when it has none. */
export function accountOf({ telephony }: TenantRuntime): CarrierAccount | null {
  const { account_sid: accountSid, auth_token: authToken } = telephony
  return accountSid === null || authToken === null ? null : { accountSid, authToken }
}

const WORTH_ANOTHER_TRY = new Set<CarrierError['kind']>(['unknown', 'unreachable', 'busy'])

function isWorthAnotherTry(error: unknown): boolean {
  return error instanceof CarrierError && WORTH_ANOTHER_TRY.has(error.kind)
}

/** Without an account there is no word of a carrier to wait for. */
function isOver(outcome: HangUpOutcome): boolean {
  return outcome === 'ended' || outcome === 'no_account'
}
