import { type Clock, withDeadline } from '../kernel/clock.ts'
import type { Log } from '../platform/log.ts'
import type { CarrierAccount, NewCarrierCall } from '../platform/telephony/port.ts'
import type { Carriers } from '../platform/telephony/registry.ts'
import { LONGEST_CALL_SECONDS } from '../records/call-values.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { pause } from './pause.ts'
import { type DialOutcome, outcomeOf } from './settle-dial.ts'
import type { DialAddresses, WantedCall } from './wanted-call.ts'

/** Asks the carrier for a call that was written down; never rejects. `giveUp` ends all that are on their way. */
export type Submit = {
  (tenant: TenantRuntime, account: CarrierAccount, dial: { dialRef: string; call: WantedCall }): Promise<DialOutcome>
  giveUp(): void
}

type Deps = {
  clock: Clock
  log: Pick<Log, 'warn'>
  carriers: Carriers
  addresses: DialAddresses
}

const TIMEOUT_MS = 10_000
/** Only a carrier that says that it is busy has certainly done nothing: it alone is asked again. */
const PAUSES_MS = [500, 1_500]
/** How long a phone rings. */
export const RING_SECONDS = 60
/** Our own end of a call comes before the carrier's, which is told of a longer time once somebody else has the call. */
const SLACK_SECONDS = 60
/** The same where a mailbox may have begun to greet right before that end: its greeting, and the message behind it, are heard out. */
const MESSAGE_SLACK_SECONDS = 180

export function makeSubmit({ clock, log, carriers, addresses }: Deps): Submit {
  const closing = new AbortController()

  async function once(tenant: TenantRuntime, account: CarrierAccount, call: NewCarrierCall): Promise<DialOutcome> {
    const carrier = carriers[tenant.telephony.provider]
    const create = (signal: AbortSignal) => carrier.createCall(account, call, signal)
    try {
      return { type: 'accepted', callSid: await withDeadline(clock, TIMEOUT_MS, create, closing.signal) }
    } catch (error) {
      log.warn({ err: error, tenant_id: tenant.tenant_id }, 'the carrier did not answer with a call')
      return outcomeOf(error)
    }
  }

  const submit = async (
    tenant: TenantRuntime,
    account: CarrierAccount,
    { dialRef, call }: { dialRef: string; call: WantedCall },
  ): Promise<DialOutcome> => {
    const wanted = carrierCall(tenant, call, addresses(dialRef))
    for (let tries = 0; ; tries += 1) {
      const outcome = await once(tenant, account, wanted)
      const pauseMs = PAUSES_MS[tries]
      const isBusy = outcome.type === 'failed' && outcome.code === 'carrier_busy'
      if (!isBusy || pauseMs === undefined || closing.signal.aborted) return outcome
      await pause(clock, pauseMs, closing.signal)
    }
  }
  return Object.assign(submit, { giveUp: () => closing.abort() })
}

function carrierCall(
  { limits }: TenantRuntime,
  { from, to, agent: { config } }: WantedCall,
  { answer, status }: ReturnType<DialAddresses>,
): NewCarrierCall {
  const seconds = config.max_call_seconds ?? limits.max_call_seconds
  const leavesMessage = config.voicemail.action === 'leave_message'
  const slackSeconds = leavesMessage ? MESSAGE_SLACK_SECONDS : SLACK_SECONDS
  return {
    from,
    to,
    answerUrl: answer,
    statusUrl: status,
    ringSeconds: RING_SECONDS,
    maxSeconds: Math.min(LONGEST_CALL_SECONDS, seconds + slackSeconds),
    tellMachine: leavesMessage ? 'at_message_end' : 'at_start',
  }
}
