import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../platform/log.ts'
import type { CallVerb } from '../platform/telephony/port.ts'
import { DEFAULT_CARRIER } from '../platform/telephony/registry.ts'
import { type CallReport, statusReport } from '../records/call-record.ts'
import { STREAM_LOST, STREAM_LOST_REASON } from '../records/call-values.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { LiveSessions } from '../voice/live-sessions.ts'
import { askAgain } from './ask-again.ts'
import { apologySentence, carrierSentence } from './carrier-words.ts'
import { type HangingUp, sayAndGo } from './hang-up.ts'
import type { CarrierAnswer } from './incoming.ts'
import type { LateUnanswered } from './late-unanswered.ts'
import type { PutThrough } from './put-through.ts'
import type { CallStatuses } from './record-status.ts'
import { refusalVerbs } from './refusal-verbs.ts'
import { NOT_TAKEN, type Refusal } from './refusals.ts'
import type { Attempt, ResumedCall } from './resumed-call.ts'

const HANG_UP: CallVerb[] = [{ type: 'hangup' }]

/** What carriers are told of calls with which no agent goes on: the tenant's fallback number behind an apology, or a sentence and the end. */
export type NotGoneOn = {
  /**
   * Of a call that was looked up, whose end, or whom it goes to, is written down. `why`: it came in, and there was no room for its first
   * stream: it hears, and is written down as, what it would have been if that had been known when it rang.
   */
  known(
    tenant: TenantRuntime,
    call: ResumedCall,
    of: { language: string | null; why: Refusal | null },
  ): Promise<CallVerb[]>
  /** Of one that was taken to be put through, as nothing was heard of it for so long, and nobody has answered. Its session is over. */
  notAnswered(tenant: TenantRuntime, call: ResumedCall, language: string | null): CallVerb[]
  /**
   * Of one of which it could not be found out in time, or at all, what has become of it. One that was put through has ended, and one
   * that was only taken to be over is to be asked about again, where there is time for that. What comes of the fallback number is told to
   * call-resume: where nobody answers there, the agent may be back.
   */
  unknown(attempt: Attempt, call: ResumedCall): CarrierAnswer
}

type Deps = {
  clock: Clock
  log: Pick<Log, 'error'>
  live: LiveSessions
  statuses: CallStatuses
  putThrough: PutThrough
  carrierCalls: Pick<HangingUp, 'letLast' | 'dropApology'>
  unanswered: Pick<LateUnanswered, 'take'>
  /** Where a carrier asks what comes next for a call. */
  resumeUrl: () => string
}

export function makeNotGoneOn({ clock, log, live, statuses, putThrough, ...deps }: Deps): NotGoneOn {
  /** It goes elsewhere: a session that still waits for it, here or on another node, must not end it there, nor must the agent's bound. */
  function leave(tenant: TenantRuntime, { callSid, isPlaced = false }: ResumedCall): void {
    live.handOver(tenant.tenant_id, callSid)
    if (isPlaced) deps.carrierCalls.letLast(tenant, callSid)
  }

  /** Whoever has answered a call that we asked for is not reached, unless a stream of it had begun. Never rejects. */
  async function noteUnanswered({ callSid, signed }: ResumedCall): Promise<void> {
    const late = { dialRef: null, callSid, signed, why: 'too_slow' as const, at: new Date(clock.now()) }
    if (!(await deps.unanswered.take(late)))
      log.error({ call_sid: callSid }, 'why a call was not connected was not noted')
  }

  async function end({ tenant_id: tenantId }: TenantRuntime, callSid: string, report: CallReport): Promise<void> {
    // A stream of it that is still on its way in comes too late.
    live.hungUp(tenantId, callSid, true)
    const notNoted = (err: unknown) => log.error({ err, call_sid: callSid }, 'the end of a call was not noted')
    await statuses.record(tenantId, callSid, report).catch(notNoted)
  }

  /** Whoever comes from the number that is rung in our place has been told all: it would be rung for as long as nothing can be written down. */
  function notTaken(
    tenant: TenantRuntime,
    { dialled = null, callerId = null }: ResumedCall,
    of: { why: Refusal; language: string | null },
  ) {
    return dialled === null ? refusalVerbs(tenant, { ...of, callerId, resumeUrl: deps.resumeUrl() }) : HANG_UP
  }

  return {
    async known(tenant, call, { language, why }) {
      const { callSid } = call
      const { fallback_number: number } = tenant.telephony
      deps.carrierCalls.dropApology(tenant, callSid)
      const at = new Date(clock.now())
      if (why !== null) {
        const { status, reason } = NOT_TAKEN[why]
        await end(tenant, callSid, { ...statusReport(status, at), errorCode: why, errorMessage: reason })
        return notTaken(tenant, call, { why, language })
      }
      // Without a number the call ends with the sentence: not every number tells us so.
      const lost = { errorCode: STREAM_LOST, errorMessage: STREAM_LOST_REASON }
      const report = { ...statusReport(number === null ? 'completed' : null, at), ...lost }
      if (number === null) await end(tenant, callSid, report)
      else {
        await putThrough(tenant, callSid, report)
        leave(tenant, call)
      }
      return sorryAndGo(number, language, call)
    },
    notAnswered: ({ telephony }, call, language) => sorryAndGo(telephony.fallback_number, language, call),
    unknown({ tenant, language, isGuessed, why }, call) {
      const { callSid, again: times = 0, dialled = null, isPlaced } = call
      const { provider, fallback_number: number } = tenant?.telephony ?? {
        provider: DEFAULT_CARRIER,
        fallback_number: null,
      }
      // With whomever it was put through to the caller has talked.
      if (dialled === 'through' || dialled === 'room_over') return { provider, verbs: HANG_UP }
      const later = isGuessed && tenant ? askAgain(deps.resumeUrl(), times) : null
      if (later) return { provider, verbs: later }
      if (tenant) deps.carrierCalls.dropApology(tenant, callSid)
      // It hears what its log says, or will.
      if (tenant && why !== null) return { provider, verbs: notTaken(tenant, call, { why, language }) }
      if (tenant && number !== null) leave(tenant, call)
      else if (isPlaced && !live.callHere(callSid)) void noteUnanswered(call)
      // Nothing is written down: whether anybody answers there is to be told. Where that was asked already, the next who rings is the last.
      const action = dialled === null ? deps.resumeUrl() : undefined
      return { provider, verbs: sorryAndGo(number, language, { callerId: call.callerId, action }) }
    },
  }
}

function sorryAndGo(
  number: string | null,
  language: string | null,
  { callerId, action }: { callerId?: string | null | undefined; action?: string | undefined },
): CallVerb[] {
  const lost = carrierSentence((words) => words.lost, language)
  return sayAndGo(number === null ? lost : apologySentence(language), number, { callerId, action })
}
