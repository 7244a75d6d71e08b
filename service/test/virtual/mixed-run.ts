import { assertNever } from '../../src/kernel/errors.ts'
import type { VoiceListener } from '../../src/platform/speech/streamed-port.ts'
import type { LineEnd } from '../../src/voice/lines/line.ts'
import { hasOpenTurns } from '../../src/voice/session/ending.ts'
import type { ToolOutcome, Turn } from '../../src/voice/session/events.ts'
import { mayPressKeys } from '../../src/voice/session/holding.ts'
import { GREET } from '../../src/voice/session/picking-up.ts'
import type { Plan } from '../../src/voice/session/plan.ts'
import type { Resumption } from '../../src/voice/session/resumption.ts'
import type { SessionState } from '../../src/voice/session/state.ts'
import type { ToolRequest } from '../../src/voice/session-deps.ts'
import { TestClock } from '../harness/clock.ts'
import { type Brain, type Line, restaurant } from './brain.ts'
import type { Act } from './caller.ts'
import { type Incident, MHM, type MixedCall, type ToolName } from './mixed-call.ts'
import { LOOK_MS, type Look, lookAt } from './mixed-look.ts'
import { kimsPlanOf, lineOf, otherPlanOf, planOf, resumptionOf } from './mixed-plan.ts'
import { LAW, PLAIN } from './mixed-setting.ts'
import { VirtualModel } from './model.ts'
import { TIMES } from './model-world.ts'
import { VirtualListener, VirtualPerson } from './person.ts'
import { VirtualSpeech } from './speech-stream.ts'
import { type Dialled, TARGET, VirtualTargets } from './targets.ts'
import { World } from './world.ts'

/** Longer than any call lasts that ends. */
const LIMIT_MS = 400_000
/** From what a carrier asks to the answer, and from that to the stream. */
const ASKED_MS = 120
const STREAM_MS = 200
/** How long what is left of a call may take to settle once it is over. */
const SETTLED_MS = 60_000
/** How long a node that stops waits for what is not told yet of a call. */
const TOLD_WITHIN_MS = 3_000
const LONG = 'This is what there is to say of it, and it takes its time. '

const FIRST = /Before anything else say exactly this sentence[^:]*: (.*)/

/** What it is told to say before anything else, with the last that it was told; the first of all where it is to greet in words of its own. */
function lawOf(lines: readonly Line[], instructions: string | null, { disclosure, greeting }: Plan): string {
  if (instructions === GREET && disclosure && greeting === '') return `${disclosure} `
  const at = lines.findLastIndex(({ role, text }) => role !== 'agent' && FIRST.test(text))
  const [, sentence = ''] = lines[at]?.text.match(FIRST) ?? []
  const isSaid = lines.slice(at + 1).some(({ role, text }) => role === 'agent' && text.includes(sentence))
  return sentence === '' || isSaid ? '' : `${sentence} `
}

/** What it had still to say of that where it was cut off in it. */
function restOfLaw(lines: readonly Line[]): string {
  const said = lines.findLast(({ role, text }) => role === 'agent' && text !== '')?.text.trim() ?? ''
  return said !== '' && LAW.startsWith(said) ? `${LAW.slice(said.length).trim()} ` : ''
}

function brainOf({ answers, behindTold = [] }: MixedCall, plan: Plan): Brain {
  let turn = 0
  let told = 0
  return (lines, instructions) => {
    const law = lawOf(lines, instructions, plan)
    if (instructions) {
      const said = restaurant(lines, instructions)
      const rest =
        /[Gg]o on from there/.test(instructions) && !/as it stands/.test(instructions) ? restOfLaw(lines) : ''
      const tool = behindTold[told++ % Math.max(1, behindTold.length)] ?? undefined
      return { ...said, text: law + rest + said.text, ...(tool && { tool }) }
    }
    const answer = answers[turn++ % answers.length]
    const { length = 1, tool = null, also = null, alsoAfterMs = 0, ahead = null } = answer ?? {}
    // What the law wants said comes before that, too.
    const first = law === '' && ahead && { ahead: { text: 'Let me see.', ...ahead } }
    const text = law + LONG.repeat(length).trim()
    return { text, ...first, ...(tool && { tool, ...(also && { also, alsoAfterMs }) }) }
  }
}

/** What a caller says is told apart by its number. */
function numbered(script: readonly Act[]): Act[] {
  return script.map((act, at) => ('say' in act && act.say !== MHM ? { ...act, say: `${act.say} (${at + 1})` } : act))
}

function silentFor(afterMs: number | null, [first, ...others]: readonly Act[]): Act[] {
  return first ? [afterMs === null ? first : { ...first, cue: { afterMs } }, ...others] : []
}

/** When what happens to a call does, from its beginning on. */
export function happeningsOf({ incidents, silentMs }: MixedCall): { atMs: number; incident: Incident }[] {
  let atMs = silentMs ?? 0
  return incidents.map(({ afterMs, incident }) => {
    atMs += afterMs
    return { atMs, incident }
  })
}

/** The first sound of the `n`th person who takes a call over. */
const soundsOf = (n: number): number => (n % 12) * 5

/** What is not done to a call, and only told of it. */
type Told = Extract<Incident, { type: 'backlog' | 'trouble' | 'rate_limited' | 'own_answer' | 'machine' | 'party' }>

/** A call in which anything happens, with all that is around it: run it, and look at what is left. */
export class MixedRun {
  readonly world: World
  readonly call: MixedCall
  readonly targets: VirtualTargets
  readonly scribes: VirtualModel
  readonly speeches: VirtualSpeech[] = []
  readonly listeners: VirtualListener[] = []
  /** Those who took the call over, with what they were told of their line's end. */
  readonly people: { person: VirtualPerson; listener: VirtualListener }[] = []
  /** When it was given to another agent, and by which session that one begins. */
  readonly handOffs: { atMs: number; epoch: number }[] = []
  /** What it was like while it ran. */
  readonly looks: Look[] = []
  /** What its recorder was told. */
  readonly pauses: boolean[] = []
  /** What a supervisor told the agent, and had it say, and when. */
  readonly whispers: { text: string; atMs: number }[] = []
  readonly says: { text: string; atMs: number }[] = []
  /** What tools came to, and when. */
  readonly outcomes: { outcome: ToolOutcome; atMs: number }[] = []
  #sayings: string[] = []
  #tools = 0

  /** What it goes on from; null for a call that begins with it. */
  readonly resumption: Resumption | null
  /** The sessions before it, and their turns. */
  readonly before: readonly MixedRun[]
  readonly earlier: readonly Turn[]

  constructor(
    call: MixedCall,
    from: { resumption: Resumption; turns: readonly Turn[]; runs: readonly MixedRun[] } | null = null,
  ) {
    this.call = call
    this.resumption = from?.resumption ?? resumptionOf(call.setting ?? PLAIN)
    this.before = from?.runs ?? []
    this.earlier = from?.turns ?? []
    const plan = call.isOthers ? kimsPlanOf(call) : planOf(call)
    const clock = new TestClock()
    const targets = this.#targetsOf(clock)
    this.targets = targets
    const world = new World({
      ...{ clock, transfer: targets.transfer() },
      ...{
        script: numbered(silentFor(call.silentMs ?? null, call.script)),
        brain: brainOf(call, plan),
        times: call.times,
        carrierDelayMs: call.carrierDelayMs,
      },
      plan,
      openScribe: (listener) => this.scribes.open(null, listener),
      runTool: (request) => this.#runTool(request),
      ...(call.speech && { openVoice: (listener) => this.#speak(listener) }),
      recorder: {
        ...{ caller: () => {}, agent: () => {}, follow: () => {} },
        pause: (isPaused) => void this.pauses.push(isPaused),
      },
      ...lineOf(call.setting ?? PLAIN),
      resumption: this.resumption,
      holdAudio: [Buffer.from(Buffer.alloc(8 * 480, 0xff).toString('base64'))],
    })
    this.world = world
    world.onCallOver = () => targets.callerGone()
    world.isElsewhere = () => targets.where.at !== 'stream'
    this.scribes = new VirtualModel({
      ...{ clock: world.clock, brain: () => ({ text: '' }), times: { ...TIMES, connectMs: 150, transcriptMs: [200] } },
      wordsOf: (sound) => this.#sayings[sound] ?? '',
      deliver: (_what, run) => run(),
    })
  }

  /** Lets the call happen to its end, for `LIMIT_MS` at most, and what is left of it settle. */
  async run(): Promise<void> {
    const { world } = this
    world.begin()
    for (const { atMs, incident } of happeningsOf(this.call)) {
      world.clock.after(atMs, () => this.#happens(incident))
    }
    const { next } = this.call
    if (next?.how === 'taken') {
      const incident = { type: 'shut_down', how: 'taken', afterMs: 500 } as const
      world.clock.after(next.afterMs, () => this.#happens(incident))
    }
    // Of a process that is killed nothing is done any more.
    const endMs = world.clock.monotonicMs() + (next?.how === 'killed' ? next.afterMs : LIMIT_MS)
    while (!world.isOver && world.clock.monotonicMs() < endMs) {
      await world.clock.advance(LOOK_MS)
      this.looks.push(lookAt(world))
    }
    if (world.isOver) await world.clock.advance(SETTLED_MS)
  }

  get checkpoint(): SessionState | null {
    return this.world.checkpoint
  }

  /** Whether its process was gone before it was over. */
  get isKilled(): boolean {
    return this.call.next?.how === 'killed' && !this.world.isOver
  }

  #targetsOf(clock: TestClock): VirtualTargets {
    const { targets, rest } = this.call
    const side = {
      clock,
      isOver: () => this.world.isCallOver,
      leaveStream: () => this.world.leaveStream(),
      resume: (dialled: Dialled | null) => void clock.after(ASKED_MS, () => this.#comesNext(dialled)),
      note: (line: string) => this.world.wire.note(line),
    }
    return new VirtualTargets(side, targets, rest)
  }

  /** The carrier asks what comes next for the call, as the service answers that. */
  #comesNext(dialled: Dialled | null): void {
    const { world } = this
    if (world.isCallOver) return
    if (dialled === 'through') {
      world.session.dispatch({ type: 'transferred' })
      return world.endCall()
    }
    if (dialled) world.session.dispatch({ type: 'transfer_failed', why: dialled })
    if (!world.session.isAttachable) return world.endCall()
    world.session.dispatch({ type: 'stream_promised' })
    world.clock.after(STREAM_MS, () => {
      if (world.isCallOver) return
      if (world.openStream()) this.targets.callerBack()
      else world.endCall()
    })
  }

  #happens(incident: Incident): void {
    const { world } = this
    if (world.isOver) return
    world.wire.note(`!! ${JSON.stringify(incident)}`)
    const { session, clock } = world
    const isEnding = session.state.phase === 'draining' || session.state.phase === 'ended'
    switch (incident.type) {
      case 'listen':
        return this.#listen(incident.forMs)
      case 'whisper':
        return isEnding ? undefined : this.#whisper()
      case 'say':
        if (isEnding || session.state.takeover || session.state.transfer) return
        return this.#say()
      case 'unmute':
        return session.dispatch({ type: 'unmute' })
      case 'mute':
        session.dispatch({ type: 'mute' })
        return void clock.after(incident.forMs, () => session.dispatch({ type: 'unmute' }))
      case 'take_over':
        return this.#takeOver(incident)
      case 'transfer':
        return void session.transfers.transfer({ target: TARGET, summary: '', isWarm: false }, false).catch(() => {})
      case 'end':
        return session.dispatch({ type: 'end', reason: 'supervisor' })
      case 'shut_down':
        return this.#shutDown(incident)
      case 'lose_model':
        if (incident.how === 'hole') return world.model.current?.fallIntoHole(12_000)
        return world.model.current?.drop(incident.how === 'fatal' ? 'insufficient_quota' : '1006', incident.how)
      case 'expire':
        return world.model.current?.drop('session_expired', 'expired')
      case 'mishap':
        return void world.model.mishaps.push(incident.what)
      case 'lose_stream':
        return world.changeStream(incident.forMs)
      case 'hang_up':
        return world.endCall()
      default:
        return this.#toldOf(incident)
    }
  }

  /** Something that the session is told of its carrier, its model or who answered. */
  #toldOf(incident: Told): void {
    const { session, clock, model } = this.world
    switch (incident.type) {
      case 'backlog':
        session.dispatch({ type: 'backlog', isOver: false })
        return void clock.after(incident.forMs, () => session.dispatch({ type: 'backlog', isOver: true }))
      case 'trouble': {
        const { code, fault } = incident
        return model.current?.emit({ type: 'refused', requestId: null, code, message: code, fault })
      }
      case 'rate_limited':
        return model.current?.emit({ type: 'rate_limited', resetMs: incident.resetMs })
      case 'own_answer':
        return model.current?.isIdle ? model.current.answer(null) : undefined
      case 'machine':
        return session.dispatch({ type: 'machine', kind: incident.kind })
      case 'party': {
        const { kind } = incident
        if (kind !== 'beep') return session.dispatch({ type: 'party_said', kind })
        return session.dispatch({ type: 'party_heard', sound: { kind: 'tone', hz: 1_000, ms: 500 } })
      }
      default:
        return assertNever(incident)
    }
  }

  /** Each other words, so that they can be told apart. */
  #whisper(): void {
    const { session, clock } = this.world
    const text = `Offer a discount of ${this.whispers.length + 1} euros.`
    this.whispers.push({ text, atMs: clock.monotonicMs() })
    session.dispatch({ type: 'whisper', text })
  }

  #say(): void {
    const { session, clock } = this.world
    const text = `Your table number ${this.says.length + 1} will be ready at eight.`
    this.says.push({ text, atMs: clock.monotonicMs() })
    session.dispatch({ type: 'say', text })
  }

  #listen(forMs: number): void {
    const listener = new VirtualListener()
    this.listeners.push(listener)
    const line = this.world.session.lines.listen(listener)
    this.world.clock.after(forMs, () => {
      if (listener.overs.length > 0) return
      line.close('released')
      listener.overs.push('released')
    })
  }

  #takeOver({ forMs, how, sayings: wanted }: Extract<Incident, { type: 'take_over' }>): void {
    const { session, clock } = this.world
    const firstSound = soundsOf(this.people.length)
    const texts = wanted.map(({ text }) => `${text} (${this.people.length + 1})`)
    let person: VirtualPerson | null = null
    const listener = new VirtualListener()
    const told = {
      audio: () => listener.audio(),
      over: (why: LineEnd) => {
        listener.over(why)
        person?.gone()
      },
    }
    try {
      const line = session.lines.takeOver(told, null)
      for (const [index, text] of texts.entries()) this.#sayings[firstSound + index] = text
      const said = wanted.map((one, index) => ({ ...one, text: texts[index] ?? '' }))
      person = new VirtualPerson({ clock, line, firstSound, sayings: said })
    } catch {
      // It cannot be had now.
      return
    }
    const taker = person
    if (listener.overs.length > 0) taker.gone()
    this.people.push({ person: taker, listener })
    clock.after(forMs, () => {
      if (!taker.isGone) taker.leave(how)
    })
  }

  #shutDown({ how, afterMs }: Extract<Incident, { type: 'shut_down' }>): void {
    const { world } = this
    const { session, clock } = world
    const { phase, plan } = session.state
    const isOpen = phase === 'waiting' || phase === 'talking' || phase === 'detached'
    // No other node is asked for a call that is ending anyway, or that none could go on with.
    const isHere = how !== 'stopped' && !(isOpen && plan.isResumable)
    if (how === 'end' || isHere) return session.dispatch({ type: 'end', reason: 'shutdown' })
    session.dispatch({ type: 'hand_over' })
    const givenAwayAtMs = clock.monotonicMs() + TOLD_WITHIN_MS
    const go = () => {
      if (world.isOver) return
      // Whoever goes on with it is to know what was said last, and what a tool came to.
      const isTold = !hasOpenTurns(session.state) || clock.monotonicMs() >= givenAwayAtMs
      if (how !== 'stopped' && !isTold) return void clock.after(LOOK_MS, go)
      if (how === 'kept') {
        session.dispatch({ type: 'kept' })
        clock.after(60_000, () => session.dispatch({ type: 'end', reason: 'shutdown' }))
      } else if (how === 'taken') session.dispatch({ type: 'taken' })
      else world.endCall()
    }
    clock.after(afterMs, go)
  }

  #speak(listener: VoiceListener): VirtualSpeech {
    const { clock, model, wire } = this.world
    const all = this.call.speech ?? []
    const times = all[this.speeches.length % all.length] ?? { connectMs: 50, chunkMs: 100 }
    const speech = new VirtualSpeech(listener, times, {
      ...{ clock, answer: () => model.lastWritten },
      deliver: (what, run) => wire.deliver('model', what, run),
    })
    this.speeches.push(speech)
    return speech
  }

  async #runTool(request: ToolRequest): Promise<ToolOutcome> {
    const { world, call } = this
    world.toolRuns.push(request)
    world.wire.note(`-> tool ${request.name} ${request.callId}`)
    const tool = call.tools[this.#tools++ % call.tools.length] ?? { ms: 0, isFailing: false }
    await new Promise<void>((resolve) => world.clock.after(tool.ms, resolve))
    const outcome = await this.#outcomeOf(request, tool)
    this.outcomes.push({ outcome, atMs: world.clock.monotonicMs() })
    return outcome
  }

  async #outcomeOf(
    { name, callId }: ToolRequest,
    { isFailing, isTimeout = false }: MixedCall['tools'][number],
  ): Promise<ToolOutcome> {
    const { session } = this.world
    const status = isTimeout ? 'timeout' : 'error'
    const failed: ToolOutcome = { callId, output: `{"error":"not now","of":"${callId}"}`, status, endsCall: false }
    const done: ToolOutcome = { callId, output: `{"ok":true,"of":"${callId}"}`, status: 'ok', endsCall: false }
    switch (name as ToolName) {
      case 'pause':
      case 'go_on':
        session.dispatch({ type: 'pause_recording', isPaused: name === 'pause' })
        return done
      case 'press':
        if (!mayPressKeys(session.state)) return failed
        session.dispatch({ type: 'press', keys: '12' })
        return { ...done, isSilent: true }
      case 'hand_off':
        return (await this.#isHandedOver()) ? done : failed
      case 'transfer':
      case 'warm_transfer':
        return session.transfers
          .transfer({ target: TARGET, summary: 'A table.', isWarm: name === 'warm_transfer' }, true)
          .then(
            () => done,
            () => failed,
          )
      case 'end_call':
        return { ...done, endsCall: true }
      default:
        return isFailing ? failed : done
    }
  }

  /** As the service's tool does it. */
  async #isHandedOver(): Promise<boolean> {
    const { session } = this.world
    await session.toolsCalled()
    const { ending, takeover, transfer, phase } = session.state
    if (ending || takeover || transfer || !session.isAttachable || phase === 'waiting') return false
    session.dispatch({ type: 'hand_off', plan: otherPlanOf(this.call), agentName: 'Kim', summary: 'A table.' })
    this.handOffs.push({ atMs: this.world.clock.monotonicMs(), epoch: session.state.model.epoch })
    return true
  }
}
