import { CarrierRequests } from '../../src/calls/carrier-requests.ts'
import { transfersTopic } from '../../src/calls/transfer-callbacks.ts'
import { makeTransfers } from '../../src/calls/transfers.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import type { NodeId, TenantId } from '../../src/kernel/ids.ts'
import { makeBus } from '../../src/platform/bus/bus.ts'
import { memoryWire } from '../../src/platform/bus/memory.ts'
import type { Bus } from '../../src/platform/bus/port.ts'
import { makeLog } from '../../src/platform/log.ts'
import {
  type CallChange,
  type CallVerb,
  CarrierError,
  type TelephonyDriver,
} from '../../src/platform/telephony/port.ts'
import { mediaStreamsCodec } from '../../src/platform/telephony/twilio/codec.ts'
import type { SessionId } from '../../src/records/call-values.ts'
import { agentConfigDefaults } from '../../src/tenancy/agent-config-defaults.ts'
import { toRuntime } from '../../src/tenancy/tenant-defaults.ts'
import type { CallTransfer } from '../../src/voice/transfer/transfer.ts'

/** To whom calls may be put through. */
export const TARGET = '+12025550103'

/**
 * Who is rung. `answersMs`: null for nobody, who are rung for 20 s, or a busy line. They listen for `listensMs`, and press the key or hang up (null); who
 * is put through talks for `talksMs`, and hangs up.
 */
export type Target = {
  answersMs: number | null
  isBusy: boolean
  listensMs: number
  key: string | null
  talksMs: number
}

/** How a carrier's REST is: what each request takes, and whether it is refused. */
export type RestTimes = { restMs: number; isRefused: boolean }

/** What came of who was rung in place of our stream. */
export type Dialled = 'through' | 'busy' | 'no_answer' | 'failed'

/** The caller's side of the carrier. */
type CallerSide = {
  clock: Clock
  isOver(): boolean
  /** The carrier leaves the stream for something else. */
  leaveStream(): void
  /** It asks what comes next. */
  resume(dialled: Dialled | null): void
  note(line: string): void
}

type Leg = { sid: string; url: string; target: Target; state: 'ringing' | 'listening' | 'room' | 'over' }

/** How long somebody is rung. */
const RINGS_MS = 20_000
/** Of a sentence that a leg hears before it is over. */
const SENTENCE_MS = 2_000
/** How long an offer is said, twice, to who presses no key. */
const OFFER_MS = 25_000
/** From something that happens to the carrier's word of it. */
const TOLD_MS = 80

const NODE = 'n1' as NodeId
const AGENT = { agentId: null, agentKey: null, versionId: null, versionNumber: null, agentName: 'Robin' }

/**
 * A carrier's REST about one call, and the people whom it rings: the service's own transfers ask it. Where the caller is: with our
 * stream, hearing somebody rung in its place, with them, in a room, or nowhere.
 */
export class VirtualTargets {
  readonly legs: Leg[] = []
  /** Where the caller is, since when. */
  where: { at: 'stream' | 'ringing' | 'talking' | 'room' | 'gone'; sinceMs: number } = { at: 'stream', sinceMs: 0 }
  /** When the caller heard a target, or that one is rung, and until when. */
  readonly heard: { startMs: number; endMs: number }[] = []
  /** Whether the caller and a target have talked to each other. */
  hasTalked = false
  /** How often it was written down that somebody else has the call. */
  putThroughs = 0
  readonly #side: CallerSide
  readonly #targets: Target[]
  readonly #rest: RestTimes
  readonly #bus: Bus
  readonly #transfers: ReturnType<typeof makeTransfers>
  #stay = 0

  constructor(side: CallerSide, targets: readonly Target[], rest: RestTimes) {
    this.#side = side
    this.#targets = [...targets]
    this.#rest = rest
    const { clock } = side
    const log = makeLog({ level: 'silent', secrets: [] })
    this.#bus = makeBus({ wire: memoryWire(), clock, log, onDropped: () => {} })
    this.#transfers = makeTransfers({
      ...{ clock, log, bus: this.#bus, nodeId: NODE },
      requests: new CarrierRequests({ clock, carriers: { twilio: this.#driver() } }),
      tokens: () => ({ issueTransfer: ({ transfer }) => transfer }),
      flush: async () => undefined,
      putThrough: async () => {
        this.putThroughs += 1
      },
      // There is no other node.
      isHeld: async () => true,
      resumeUrl: () => 'https://voice.example.com/api/v1/call-resume',
      publicUrl: () => 'https://voice.example.com',
    })
  }

  /** What puts the call through. */
  transfer(): CallTransfer {
    const tenant = toRuntime(
      { tenant_id: 'acme' as TenantId, transfer_targets: [TARGET] },
      { account_sid: 'AC1', auth_token: 'token', from_number: null },
    )
    return this.#transfers.of({
      ...{ tenant, callSid: 'CA1', streamSid: 'MZ1', epoch: 1, codec: mediaStreamsCodec },
      ...{ direction: 'inbound', from: '+12025550101', to: '+12025550100', orgId: null },
      sessionId: '018f0000-0000-7000-8000-000000000001' as SessionId,
      agent: { ...AGENT, config: agentConfigDefaults({}) },
      carrier: { send: () => {}, sendAll: () => {}, bufferedBytes: () => 0, close: () => {} },
    })
  }

  /** The caller has hung up, or was hung up on: nobody is in the room with them any more. */
  callerGone(): void {
    if (this.where.at === 'gone') return
    this.#move('gone')
    for (const leg of this.legs) if (leg.state === 'room') this.#over(leg)
  }

  /** The caller is with our stream again. */
  callerBack(): void {
    this.#move('stream')
  }

  #move(at: VirtualTargets['where']['at']): void {
    const nowMs = this.#side.clock.monotonicMs()
    const isHeard = this.where.at === 'ringing' || this.where.at === 'talking' || this.#isWithTarget()
    if (isHeard) this.heard.push({ startMs: this.where.sinceMs, endMs: nowMs })
    this.where = { at, sinceMs: nowMs }
    this.#stay += 1
    this.#side.note(`   the caller: ${at}`)
  }

  #isWithTarget(): boolean {
    return this.where.at === 'room' && this.hasTalked
  }

  #driver(): TelephonyDriver {
    const unused = (): never => {
      throw new Error('a transfer does not ask for that')
    }
    return {
      ...{ name: 'virtual', codec: unused as never, document: unused, hasSignature: unused, mayBeSigned: unused },
      ...{ verify: unused, listCalls: unused, fetchCall: unused, cancelCall: unused, connectNumber: unused },
      createCall: (_account, { answerUrl }) => this.#after(() => this.#ring(answerUrl)),
      endCall: (_account, sid) => this.#after(() => this.#end(sid)),
      updateCall: (_account, sid, change) => this.#after(() => this.#update(sid, change)),
    }
  }

  /** A request is done when it arrives, and answered then. */
  #after<T>(work: () => T): Promise<T> {
    const { restMs, isRefused } = this.#rest
    return new Promise((resolve, reject) => {
      this.#side.clock.after(restMs / 2, () => {
        try {
          if (isRefused) throw new CarrierError('rejected', 'not now')
          const value = work()
          this.#side.clock.after(restMs / 2, () => resolve(value))
        } catch (cause) {
          const error = cause instanceof Error ? cause : new Error(String(cause))
          this.#side.clock.after(restMs / 2, () => reject(error))
        }
      })
    })
  }

  #next(): Target {
    return this.#targets.shift() ?? { answersMs: null, isBusy: true, listensMs: 0, key: null, talksMs: 0 }
  }

  #ring(url: string): string {
    const leg: Leg = { sid: `CL${this.legs.length + 1}`, url, target: this.#next(), state: 'ringing' }
    this.legs.push(leg)
    this.#side.note(`   ${leg.sid} is rung`)
    const { answersMs, isBusy } = leg.target
    if (answersMs === null) this.#at(leg, isBusy ? 500 : RINGS_MS, () => this.#over(leg, isBusy ? 'busy' : 'no-answer'))
    else this.#at(leg, answersMs, () => void this.#answered(leg))
    return leg.sid
  }

  /** Something happens to a leg unless something else has happened to it before. */
  #at(leg: Leg, ms: number, run: () => void): void {
    const { state } = leg
    this.#side.clock.after(ms, () => {
      if (leg.state === state) run()
    })
  }

  async #answered(leg: Leg): Promise<void> {
    leg.state = 'listening'
    this.#side.note(`   ${leg.sid} answers`)
    const { listensMs, key } = leg.target
    const verbs = await this.#ask(leg.url, { type: 'answered' })
    if (!verbs.some(({ type }) => type === 'ask_key')) return this.#at(leg, SENTENCE_MS, () => this.#over(leg))
    this.#at(leg, OFFER_MS, () => this.#over(leg))
    this.#at(leg, listensMs, () => {
      if (key === null) this.#over(leg)
      else void this.#pressed(leg, key)
    })
  }

  async #pressed(leg: Leg, digits: string): Promise<void> {
    this.#side.note(`   ${leg.sid} presses ${digits}`)
    const { talksMs } = leg.target
    // They may hang up before they are told where to go.
    if (talksMs < 0) this.#side.clock.after(-talksMs, () => this.#over(leg))
    const verbs = await this.#ask(leg.url, { type: 'key', digits })
    if (leg.state !== 'listening') return
    if (!verbs.some(({ type }) => type === 'conference')) return this.#at(leg, SENTENCE_MS, () => this.#over(leg))
    leg.state = 'room'
    this.#meet()
    this.#at(leg, Math.max(0, talksMs), () => this.#over(leg))
  }

  #meet(): void {
    if (this.where.at !== 'room' || !this.legs.some(({ state }) => state === 'room')) return
    this.hasTalked = true
    this.where = { at: 'room', sinceMs: this.#side.clock.monotonicMs() }
    this.#side.note('   the caller and a target are together')
  }

  /** Whoever was in a room with them is asked for again by the carrier. */
  #over(leg: Leg, status = 'completed'): void {
    if (leg.state === 'over') return
    const wasInRoom = leg.state === 'room'
    leg.state = 'over'
    this.#side.note(`   ${leg.sid} is over: ${status}`)
    const url = leg.url
    this.#side.clock.after(TOLD_MS, () => void this.#ask(url, { type: 'status', status }).catch(() => undefined))
    if (wasInRoom && this.where.at === 'room') {
      this.#move('room')
      this.hasTalked = false
      this.#side.clock.after(TOLD_MS, () => {
        if (this.where.at === 'room') this.#side.resume(null)
      })
    }
  }

  #end(sid: string): void {
    const leg = this.legs.find((one) => one.sid === sid)
    if (leg) this.#over(leg)
  }

  #update(sid: string, { verbs = [] }: CallChange): void {
    const leg = this.legs.find((one) => one.sid === sid)
    if (leg) {
      if (leg.state === 'over') throw new CarrierError('rejected', 'it is over')
      return void this.#side.clock.after(SENTENCE_MS, () => this.#over(leg))
    }
    if (this.where.at === 'gone' || this.#side.isOver()) throw new CarrierError('rejected', 'it is over')
    const [verb] = verbs
    this.#side.note(`   the carrier is told to ${verb?.type}`)
    if (this.where.at === 'stream') this.#side.leaveStream()
    if (verb?.type === 'dial') return this.#dial(verb.answered ?? '')
    if (verb?.type === 'conference') {
      this.#move('room')
      return this.#meet()
    }
    this.#move('room')
    this.#side.resume(null)
  }

  #dial(url: string): void {
    const target = this.#next()
    this.#move('ringing')
    const { answersMs, isBusy, talksMs } = target
    if (answersMs === null) {
      return this.#stays(isBusy ? 500 : RINGS_MS, () => this.#side.resume(isBusy ? 'busy' : 'no_answer'))
    }
    this.#stays(answersMs, () => {
      this.#move('talking')
      this.hasTalked = true
      const told = () => void this.#ask(url.replace(/\/status$/, ''), { type: 'status', status: 'in-progress' })
      this.#side.clock.after(TOLD_MS, told)
      this.#stays(Math.abs(talksMs), () => this.#side.resume('through'))
    })
  }

  /** If the caller is still where they are now. */
  #stays(ms: number, run: () => void): void {
    const stay = this.#stay
    this.#side.clock.after(ms, () => {
      if (this.#stay === stay) run()
    })
  }

  async #ask(url: string, question: object): Promise<CallVerb[]> {
    const id = url.split('/').at(-1)
    return (await this.#bus.ask(transfersTopic(NODE), { ...question, id }, 8_000)) as CallVerb[]
  }
}
