import { type Cancel, type Clock, withTimeout } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import type { NodeId } from '../kernel/ids.ts'
import { shownNumber } from '../kernel/phone.ts'
import type { GoesOn } from '../operators/missed-calls.ts'
import type { Bus } from '../platform/bus/port.ts'
import type { Log } from '../platform/log.ts'
import { type CallVerb, CarrierError } from '../platform/telephony/port.ts'
import { LONGEST_CALL_SECONDS } from '../records/call-values.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { TransferFault } from '../voice/session/events.ts'
import type { StreamTokens } from '../voice/stream-token.ts'
import type { StreamedCall } from '../voice/streamed-call.ts'
import type { BegunTransfer, CallTransfer, TransferNews, TransferRequest } from '../voice/transfer/transfer.ts'
import { heldCall } from './call-ended.ts'
import type { CarrierOutcome, CarrierRequests } from './carrier-requests.ts'
import { carrierSentence } from './carrier-words.ts'
import { makeGoesOn } from './goes-on.ts'
import { NotingThrough } from './noting-through.ts'
import type { OwnPutThrough } from './put-through.ts'
import { makeStillOurs, type StillOurs } from './still-ours.ts'
import { callerGone, type TransferQuestion, transfersTopic } from './transfer-callbacks.ts'
import { expectTarget } from './transfer-target.ts'

/** Puts live calls of this node through to others. */
export type Transfers = {
  of(call: StreamedCall): CallTransfer
  /** Answers no more questions about transfers. */
  close(): void
}

type Deps = {
  clock: Clock
  log: Pick<Log, 'info' | 'warn' | 'error'>
  nodeId: NodeId
  bus: Bus
  requests: CarrierRequests
  tokens: () => Pick<StreamTokens, 'issueTransfer'>
  putThrough: OwnPutThrough
  /** Whether a call is still that of its stream, and no other stream is on its way to it. */
  isHeld(call: StreamedCall): Promise<boolean>
  /** Writes down what was said in a call. */
  flush(callSid: string): Promise<void>
  /** Where a carrier asks what comes next for a call. */
  resumeUrl: () => string
  publicUrl: () => string
}

/** A target that is rung, or listens to what it is about. */
type Ringing = {
  tenant: TenantRuntime
  callSid: string
  /** That of the agent, which its summary is in. */
  language: string | null
  request: TransferRequest
  news: TransferNews
  /** Changes with the streams of the call. */
  call: StreamedCall
  legSid: string | null
  url: string
  /** The target listens to what it is about. */
  isAnswered: boolean
  isTaken: boolean
  /** They have hung up while the caller was brought to them. */
  isGone: boolean
  /** Nobody here follows it any more. */
  isLeft: boolean
  /** Its carrier has not said whether it rings them in place of our stream. */
  isInDoubt: boolean
  /** Ends the time in which they may still be on their way into the room, or to answer where that is in doubt; null before that. */
  stopJoining: Cancel | null
}

/** What is to be done with a caller once the time is up. */
type Next = { ms: number; task: () => void }

const RING_SECONDS = 30
const KEY_SECONDS = 10
/** Nothing that is said in the call can be written down by us once it is somebody else's. */
const WRITTEN_WITHIN_MS = 2_000
/** How long after the key a target may be gone without having joined the caller: nobody tells whether it has. Whoever is there then, has. */
const JOINS_WITHIN_MS = 3_000
/** Whoever was in the room has ended it by leaving: the caller's carrier asks by itself, and has another stream within this. */
const BACK_BY_ITSELF_MS = 2_000
/** A node that has the call by now is heard of soon; a stream that was promised and does not come leaves it ours. */
const LOOK_AGAIN_MS = 2_000
/** Who may be rung, though their carrier has not said so, has answered by then, or will not. */
const IN_DOUBT_MS = (RING_SECONDS + 15) * 1_000
/** A summary without it would be read out as one sentence with what is asked behind it. */
const ENDS_A_SENTENCE = /[.!?…。！？؟।]["'”’»)\]]*$/
/** What the end of the target's side means, by the carrier's word for it. */
const ENDS: ReadonlyMap<string, TransferFault> = new Map([
  ['completed', 'declined'],
  ['busy', 'busy'],
  ['no-answer', 'no_answer'],
  ['failed', 'failed'],
  ['canceled', 'no_answer'],
])

/**
 * Cold: the carrier is told to ring the target in place of our stream, and asks what comes next when nobody takes it. Warm: the target
 * is called beside, hears what it is about and presses 1; then both are brought into one room.
 */
export function makeTransfers(deps: Deps): Transfers {
  const transfers = new OpenTransfers(deps)
  const stopAnswers = deps.bus.answer(transfersTopic(deps.nodeId), (asked) =>
    transfers.answer(asked as TransferQuestion),
  )
  return {
    of: (call) => ({
      expectTarget: (target) => expectTarget(call.tenant, target),
      begin: (id, request, news) => transfers.begin(call, id, { request, news }),
      putThrough: () => void transfers.putThrough(call),
    }),
    close() {
      stopAnswers()
      transfers.close()
    },
  }
}

/** The transfers of this node that have begun and are not over. */
class OpenTransfers {
  readonly #deps: Deps
  readonly #ringing = new Map<string, Ringing>()
  readonly #noting: NotingThrough
  readonly #goesOn: GoesOn
  readonly #isOurs: StillOurs

  constructor(deps: Deps) {
    this.#deps = deps
    this.#goesOn = makeGoesOn(deps.requests)
    this.#isOurs = makeStillOurs(deps.clock, deps.isHeld)
    this.#noting = new NotingThrough({ ...deps, isOurs: this.#isOurs })
  }

  close(): void {
    this.#noting.close()
  }

  async begin(
    call: StreamedCall,
    id: string,
    { request, news }: Pick<Ringing, 'request' | 'news'>,
  ): Promise<BegunTransfer> {
    const { tenant, callSid, agent } = call
    const { language } = agent.config.speech
    const url = this.#addressOf(id, call, request)
    const stages = {
      isAnswered: false,
      isTaken: false,
      isGone: false,
      isLeft: false,
      isInDoubt: false,
      stopJoining: null,
    }
    const of: Ringing = { tenant, callSid, language, request, news, call, legSid: null, url, ...stages }
    this.#ringing.set(id, of)
    try {
      await (request.isWarm ? this.#ringBeside(call, of) : this.#ringInPlace(call, of))
    } catch (error) {
      if (!of.isInDoubt) this.#ringing.delete(id)
      else if (!of.isTaken) of.stopJoining = this.#deps.clock.after(IN_DOUBT_MS, () => this.#ringing.delete(id))
      throw error
    }
    return { cancel: () => this.#cancel(id), leave: () => this.#leave(id) }
  }

  #addressOf(id: string, { tenant, callSid }: StreamedCall, { isWarm: warm }: TransferRequest): string {
    const { publicUrl, tokens, nodeId } = this.#deps
    const grant = { transfer: id, tenant: tenant.tenant_id, call_sid: callSid, node: nodeId, warm }
    return `${publicUrl()}/api/v1/transfers/${tokens().issueTransfer(grant)}`
  }

  async #ringInPlace(call: StreamedCall, of: Ringing): Promise<void> {
    const { request, url } = of
    const verb: CallVerb = {
      ...{ type: 'dial', number: request.target, callerId: shownNumber(call), timeoutSeconds: RING_SECONDS },
      ...{ action: this.#deps.resumeUrl(), answered: `${url}/status` },
    }
    const outcome = await this.#update(of, [verb])
    of.isInDoubt = mayBeDone(outcome)
    expectDone(outcome)
  }

  async #ringBeside({ direction, from, to, tenant }: StreamedCall, of: Ringing): Promise<void> {
    const leg = {
      ...{ from: direction === 'outbound' ? from : to, to: of.request.target },
      // The fragment tells the carrier how often to try; it is never sent.
      ...{ answerUrl: of.url, statusUrl: `${of.url}/status#rc=5&rp=all`, ringSeconds: RING_SECONDS },
      // A machine presses no key: whether it is one makes no difference.
      ...{ maxSeconds: LONGEST_CALL_SECONDS, tellMachine: null },
    }
    const outcome = await this.#deps.requests.make(tenant, (carrier, account, signal) =>
      carrier.createCall(account, leg, signal),
    )
    of.legSid = expectDone(outcome)
  }

  /** Whoever takes the call has it as long as they like: the carrier was told how long the agent may have it. */
  #update({ tenant, callSid }: Pick<Ringing, 'tenant' | 'callSid'>, verbs: CallVerb[]): Promise<CarrierOutcome<void>> {
    const change = { verbs, maxSeconds: LONGEST_CALL_SECONDS }
    return this.#deps.requests.make(tenant, (carrier, account, signal) =>
      carrier.updateCall(account, callSid, change, signal),
    )
  }

  /** The target is rung no more, nor waits in the room for a caller who does not come. */
  #cancel(id: string): void {
    const of = this.#ringing.get(id)
    this.#ringing.delete(id)
    of?.stopJoining?.()
    if (!of || of.isGone || of.legSid === null) return
    // Whoever has pressed 1, and waits for what comes next, is told by the answer.
    if (!of.isTaken || of.stopJoining) void this.#dismiss(of, of.legSid)
  }

  /** Whoever has taken the call is still brought to its caller, or left with them: what becomes of the two, others are told. */
  #leave(id: string): void {
    const of = this.#ringing.get(id)
    if (!of?.isTaken) return this.#cancel(id)
    of.isLeft = true
    // Its carrier is yet to bring the caller to the room.
    if (of.stopJoining === null) return
    this.#ringing.delete(id)
    of.stopJoining()
  }

  /** Whoever listens already is told why they are rung off; where the carrier does not do that they are rung off all the same. */
  async #dismiss({ tenant, language, isAnswered }: Ringing, legSid: string): Promise<void> {
    if (isAnswered) {
      const told = await this.#update({ tenant, callSid: legSid }, callerGone(language))
      if (told.type === 'done') return
    }
    await this.#deps.requests.make(tenant, (carrier, account, signal) => carrier.endCall(account, legSid, signal))
  }

  /** Writes down that the target has the call, as far as is known, once all is written down that was said before. Never rejects. */
  async putThrough(call: StreamedCall): Promise<void> {
    await this.#written(call)
    await this.#noting.noteUntold(call)
  }

  /** What was said before is written down, as far as that does not take long. Never rejects. */
  async #written({ callSid }: Pick<Ringing, 'callSid'>): Promise<void> {
    const { clock, flush, log } = this.#deps
    const late = () => new Error('what was said is not written down yet')
    await withTimeout(clock, flush(callSid), WRITTEN_WITHIN_MS, late).catch((err: unknown) =>
      log.warn({ err, call_sid: callSid }, 'a call is put through before all of it is written down'),
    )
  }

  /** What comes next for a target. */
  async answer(question: TransferQuestion): Promise<CallVerb[]> {
    const { id } = question
    const of = this.#ringing.get(id)
    if (!of) return callerGone(null)
    switch (question.type) {
      case 'answered':
        of.isAnswered = true
        return offer(of)
      case 'key':
        return question.digits === '1' ? this.#join(id, of) : this.#decline(id, of)
      default:
        await this.#told(id, of, question.status)
        return []
    }
  }

  #decline(id: string, { news }: Ringing): CallVerb[] {
    this.#ringing.delete(id)
    news.failed('declined')
    return [{ type: 'hangup' }]
  }

  async #join(id: string, of: Ringing): Promise<CallVerb[]> {
    if (of.isTaken) return callerGone(of.language)
    of.isTaken = true
    const { log, resumeUrl } = this.#deps
    const room = `transfer-${id}`
    if (!of.news.sent()) {
      // It was called off before the carrier had said that they are rung.
      this.#ringing.delete(id)
      return callerGone(of.language)
    }
    const outcome = await this.#update(of, [{ type: 'conference', room, action: resumeUrl() }])
    if (outcome.type !== 'done') {
      log.warn({ call_sid: of.callSid, ...outcome }, 'a caller could not be brought to who has taken the call')
      // They may be alone in the room by now.
      const isBack = mayBeDone(outcome) && (await this.#fetchBack(id, of))
      this.#ringing.delete(id)
      if (!isBack) of.news.failed('failed')
      return callerGone(of.language)
    }
    if (of.isGone) {
      await this.#fetchBack(id, of)
      return [{ type: 'hangup' }]
    }
    if (this.#ringing.get(id) !== of) {
      // Called off meanwhile: by a caller who has hung up, or who had another stream by then, and is alone in the room.
      void this.#fetchBack(id, of)
      return callerGone(of.language)
    }
    if (of.isLeft) this.#ringing.delete(id)
    else this.#afterwards(id, of, { ms: JOINS_WITHIN_MS, task: () => void this.#joined(id, of) })
    return [{ type: 'conference', room }, { type: 'hangup' }]
  }

  /**
   * The caller waits in the room for somebody who does not come: the agent has the call again once its carrier asks what comes next. False
   * where the carrier does not take that.
   */
  async #fetchBack(id: string, of: Ringing): Promise<boolean> {
    this.#ringing.delete(id)
    of.news.gone()
    const back = (): Promise<CarrierOutcome<void>> =>
      this.#update(of, [{ type: 'redirect', url: this.#deps.resumeUrl() }])
    let outcome = await back()
    if (outcome.type === 'failed') outcome = await back()
    this.#deps.log.warn(
      { call_sid: of.callSid, outcome: outcome.type },
      'a caller was brought to nobody, and is fetched back',
    )
    return outcome.type === 'done'
  }

  /** Whoever has taken the call has been with the caller for a while, who may be on their way back to the agent all the same. */
  async #joined(id: string, of: Ringing): Promise<void> {
    const [isThere] = await Promise.all([this.#isTakerThere(of), this.#written(of)])
    // A carrier may take seconds to say so.
    const isOurs = await this.#isOurs(of.call)
    // Of a target that has gone meanwhile it is not known whether it was ever in the room.
    if (this.#ringing.get(id) !== of || of.isGone) return
    if (!isThere) return this.#takerGone(id, of)
    if (!isOurs) return this.#afterwards(id, of, { ms: LOOK_AGAIN_MS, task: () => void this.#joined(id, of) })
    this.#ringing.delete(id)
    of.stopJoining?.()
    await this.#through(of)
  }

  /** That they have gone may be told late, or never. Where their carrier does not answer, they are taken to be there. */
  async #isTakerThere({ tenant, legSid }: Ringing): Promise<boolean> {
    if (legSid === null) return true
    return (await this.#goesOn(tenant, legSid)) ?? (await this.#goesOn(tenant, legSid)) ?? true
  }

  async #through(of: Ringing): Promise<void> {
    await this.#noting.note(of.tenant, heldCall(of.call))
    of.news.through()
    this.#deps.log.info({ tenant_id: of.tenant.tenant_id, call_sid: of.callSid }, 'a call was put through')
  }

  /** What becomes of the target's side: of a call that rings in place of ours only that it was answered is told. */
  async #told(id: string, of: Ringing, status: string): Promise<void> {
    const why = ENDS.get(status)
    if (of.isTaken) return of.request.isWarm && why !== undefined ? this.#takerGone(id, of) : undefined
    if (!of.request.isWarm) {
      if (status !== 'in-progress') return
      of.isTaken = true
      this.#ringing.delete(id)
      of.stopJoining?.()
      await this.#written(of)
      return this.#through(of)
    }
    if (why === undefined) return
    this.#ringing.delete(id)
    of.news.failed(why)
  }

  /** The caller may be alone in the room, or is about to be. */
  #takerGone(id: string, of: Ringing): void {
    if (of.isGone) return
    of.isGone = true
    if (of.stopJoining === null) return
    of.stopJoining()
    // To send a caller there who is back by itself would end the stream that they are back with.
    this.#afterwards(id, of, { ms: BACK_BY_ITSELF_MS, task: () => void this.#fetchBack(id, of) })
  }

  /**
   * Once the time is up, and unless that was called off. While another stream has the call, or is on its way to it, it is neither put
   * through nor fetched back: on another node that is not known here yet, and its caller would be hung up on.
   */
  #afterwards(id: string, of: Ringing, next: Next): void {
    const stop = this.#deps.clock.after(next.ms, () => void this.#isDue(id, of, { ...next, stop }))
    of.stopJoining = stop
  }

  async #isDue(id: string, of: Ringing, { stop, task }: Next & { stop: Cancel }): Promise<void> {
    const isOurs = await this.#isOurs(of.call)
    if (this.#ringing.get(id) !== of || of.stopJoining !== stop) return
    if (isOurs) task()
    else this.#afterwards(id, of, { ms: LOOK_AGAIN_MS, task })
  }
}

/** Said twice: who has just picked up may miss the first. */
function offer({ language, request, url }: Ringing): CallVerb[] {
  const summary = request.summary.trim()
  const about = summary === '' ? '' : ` ${ENDS_A_SENTENCE.test(summary) ? summary : `${summary}.`}`
  const ask = { type: 'ask_key' as const, timeoutSeconds: KEY_SECONDS, url: `${url}/keys` }
  const sentence = carrierSentence(({ waiting, pressOne }) => `${waiting}${about} ${pressOne}`, language)
  return [{ ...ask, ...sentence }, { ...ask, ...sentence }, { type: 'hangup' }]
}

/** Whether a carrier that has not said so may have done it all the same. */
function mayBeDone(outcome: CarrierOutcome<void>): boolean {
  if (outcome.type !== 'failed') return false
  return !(outcome.err instanceof CarrierError) || outcome.err.kind === 'unknown'
}

/** @throws AppError `upstream_failed` with the carrier's reason. */
function expectDone<T>(outcome: CarrierOutcome<T>): T {
  switch (outcome.type) {
    case 'done':
      return outcome.value
    case 'no_account':
      throw new AppError('upstream_failed', 'The tenant has no carrier account that could put the call through.')
    case 'refused':
      throw new AppError('upstream_failed', `The carrier refused to put the call through: ${outcome.err.message}`)
    default:
      throw new AppError('upstream_failed', 'The carrier did not put the call through: try again.', {
        cause: outcome.err,
      })
  }
}
