import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../platform/log.ts'
import { type CallVerb, type CarrierAccount, CarrierError, type TelephonyDriver } from '../platform/telephony/port.ts'
import type { Carriers } from '../platform/telephony/registry.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { CarrierCalls } from '../voice/session-builder.ts'

type Deps = { carriers: Carriers; clock: Clock; log: Pick<Log, 'warn' | 'error'> }

/** What is done to live calls by way of their carriers, in the background. */
export type HangingUp = CarrierCalls & {
  /** Resolves when nothing is on its way any more: what is not done by then within its own time is given up. */
  close(): Promise<void>
}

/** Each try may take this long; the pause before the next. After the last the call is left to its own end. */
const TRY_TIMEOUT_MS = 5_000
const PAUSES_MS = [500, 2_000]
const RING_SECONDS = 30

type CarrierRequest = (carrier: TelephonyDriver, account: CarrierAccount, signal: AbortSignal) => Promise<void>

/** Ends calls at their carriers, or sends them elsewhere: three tries each, because there is nobody who could try again. */
export function makeHangingUp({ carriers, clock, log }: Deps): HangingUp {
  const running = new Set<Promise<void>>()

  function start(tenant: TenantRuntime, callSid: string, request: CarrierRequest): void {
    const account = accountOf(tenant)
    if (!account) return log.warn({ call_sid: callSid }, 'a call could not be ended: its tenant has no carrier account')
    const carrier = carriers[tenant.telephony.provider]
    const done = tryThrice(callSid, (signal) => request(carrier, account, signal)).finally(() => running.delete(done))
    running.add(done)
  }

  async function tryThrice(callSid: string, request: (signal: AbortSignal) => Promise<void>): Promise<void> {
    for (let tries = 0; ; tries += 1) {
      const err = await outcomeOf(request)
      if (err === null) return
      const pauseMs = isWorthAnotherTry(err) ? PAUSES_MS[tries] : undefined
      if (pauseMs === undefined) return log.error({ err, call_sid: callSid }, 'the carrier did not take a request')
      await new Promise<void>((resolve) => clock.after(pauseMs, resolve))
    }
  }

  async function outcomeOf(request: (signal: AbortSignal) => Promise<void>): Promise<unknown> {
    const stopping = new AbortController()
    const cancel = clock.after(TRY_TIMEOUT_MS, () => stopping.abort())
    return request(stopping.signal)
      .then(
        () => null,
        (error: unknown) => error,
      )
      .finally(cancel)
  }

  return {
    hangUp: (tenant, callSid) =>
      start(tenant, callSid, (carrier, account, signal) => carrier.endCall(account, callSid, signal)),
    apologise: (tenant, callSid, words) =>
      start(tenant, callSid, (carrier, account, signal) =>
        carrier.updateCall(account, callSid, sayAndGo(words.text, words.number), signal),
      ),
    async close() {
      await Promise.all(running)
    },
  }
}

/** A sentence, and then the number; without one the end. */
export function sayAndGo(text: string, number: string | null): CallVerb[] {
  const next: CallVerb =
    number === null ? { type: 'hangup' } : { type: 'dial', number, callerId: null, timeoutSeconds: RING_SECONDS }
  return [{ type: 'say', text }, next]
}

function accountOf({ telephony }: TenantRuntime): CarrierAccount | null {
  const { account_sid: accountSid, auth_token: authToken } = telephony
  return accountSid === null || authToken === null ? null : { accountSid, authToken }
}

function isWorthAnotherTry(error: unknown): boolean {
  return error instanceof CarrierError && (error.kind === 'unknown' || error.kind === 'busy')
}
