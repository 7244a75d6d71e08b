import type {
  ModelCommand,
  ModelEvent,
  ModelFault,
  ModelListener,
  ModelSession,
} from '../../src/platform/realtime/port.ts'
import { agentAudio, soundIn } from './audio.ts'
import { type Ahead, type Answer, linesOf, spokenMs } from './brain.ts'
import { Generation, type Piece } from './generation.ts'
import { type Heard, Hearing } from './hearing.ts'
import { agentItem, type Item, part } from './item.ts'
import type { Answered, Mishap, ModelWorld } from './model-world.ts'
import { Regrouped } from './regrouped.ts'

/** `answer` and `itemId`: of what it says. */
type Active = {
  responseId: string
  itemId: string
  answer: number
  generation: Generation
  audioMs: number
  instructions: string | null
  hasCalled?: boolean
}
type Done = Extract<ModelEvent, { type: 'response_done' }>
type Beginning = { isWritten: boolean; started: () => void }
type Respond = Extract<ModelCommand, { type: 'respond' }>
type Own = {
  listener: ModelListener
  epoch: number
  answers: Answered[]
  offences: string[]
  mishaps: Mishap[]
  /** When sessions were closed in the middle of an answer that had called a tool. */
  leftCalling: number[]
  /** Told of which answer the words are that arrive. */
  written(answer: number): void
  /** Told of an answer's end that has arrived. */
  used(seconds: number): void
}

/** How the conversation so far begins. */
const HISTORY = /^(agent|caller|system|supervisor): /
/** Deltas that still come out after a cancel has arrived. */
const LATE_DELTAS = 2

/** One session with the virtual model. Everything takes its way there and back; nothing overtakes anything. */
export class VirtualSession implements ModelSession {
  readonly #world: ModelWorld
  readonly #own: Own
  readonly #hearing: Hearing
  readonly #frames = new Regrouped(20)
  readonly #items: Item[] = []
  #active: Active | null = null
  #ids = 0
  #turns = 0
  #state: 'connecting' | 'ready' | 'over' = 'connecting'
  #isHole = false
  /** What it is told before it is set up waits, as it does with a driver. */
  #waiting: ModelCommand[] = []
  readonly commands: ModelCommand[] = []
  /** When each of them was sent. */
  readonly sentAtMs: number[] = []
  readonly openedAtMs: number
  /** Whenever it was asked for words: what it took to have been heard of its own so far, by their items, in ms. */
  readonly asked: { atMs: number; heardMs: ReadonlyMap<string, number> }[] = []

  constructor(world: ModelWorld, own: Own) {
    this.#world = world
    this.#own = own
    this.#hearing = new Hearing(world.times)
    this.openedAtMs = world.clock.monotonicMs()
    this.#later(world.times.connectMs, () => this.#arrives('ready', () => this.#ready()))
  }

  #ready(): void {
    if (this.#state !== 'connecting') return
    this.#state = 'ready'
    for (const command of this.#waiting.splice(0)) this.#give(command)
    this.#own.listener.event({ type: 'ready' })
  }

  get isOpen(): boolean {
    return this.#state !== 'over'
  }

  get epoch(): number {
    return this.#own.epoch
  }

  get isAnswering(): boolean {
    return this.#active !== null
  }

  /** Whether it could begin to answer. */
  get isIdle(): boolean {
    return this.#state === 'ready' && this.#active === null
  }

  append(payload: Buffer): void {
    if (this.#state !== 'ready' || this.#isHole) return
    for (const frame of this.#frames.take(payload)) {
      const heard = this.#hearing.hear(soundIn(frame))
      if (heard) this.#later(this.#world.times.oneWayMs, () => this.#tell(heard))
    }
  }

  #tell(heard: Heard): void {
    if (heard.type === 'started') {
      return this.#emit({ type: 'speech_started', itemId: this.#nextTurn(), audioStartMs: heard.atMs })
    }
    const words = heard.sounds.map((sound) => this.#world.wordsOf(sound)).join(' ')
    this.#commit(words.trim(), heard.atMs)
  }

  send(command: ModelCommand): void {
    this.commands.push(command)
    this.sentAtMs.push(this.#world.clock.monotonicMs())
    if (command.type === 'cancel') this.#noteCancel(this.#qualified(command.responseId))
    if (this.#state === 'connecting') this.#waiting.push(command)
    else this.#give(command)
  }

  #give(command: ModelCommand): void {
    this.#later(this.#world.times.oneWayMs, () => this.#obey(command))
  }

  #noteCancel(responseId: string): void {
    const answered = this.#own.answers.filter((one) => one.responseId === responseId)
    for (const one of answered) one.cancelledAtMs ??= this.#world.clock.monotonicMs()
  }

  bufferedBytes(): number {
    return 0
  }

  close(): void {
    if (this.#state === 'ready' && !this.#isHole && this.#active?.hasCalled)
      this.#own.leftCalling.push(this.#world.clock.monotonicMs())
    this.#over()
  }

  /** The connection ends by itself: what is on its way still arrives when it ended in order. */
  drop(code: string, fault: ModelFault = 'retry'): void {
    this.#isGone({ code, fault })
  }

  /** The network swallows everything from now on, and nobody is told: but by pings that are not answered, after `noticedAfterMs`. */
  fallIntoHole(noticedAfterMs?: number): void {
    this.#isHole = true
    this.#active?.generation.stop()
    if (noticedAfterMs === undefined) return
    this.#world.clock.after(noticedAfterMs, () => this.#isGone({ code: 'peer_silent', fault: 'retry', wasDeaf: true }))
  }

  #isGone(how: { code: string; fault: ModelFault; wasDeaf?: true }): void {
    if (this.#state === 'over') return
    this.#over()
    this.#own.listener.event({ type: 'closed', message: 'the connection ended', ...how })
  }

  /** What the server says out of turn, as it would arrive. */
  emit(event: ModelEvent): void {
    this.#emit(event)
  }

  #over(): void {
    this.#state = 'over'
    this.#active?.generation.stop()
  }

  #later(ms: number, run: () => void): void {
    this.#world.clock.after(ms, () => {
      if (this.#state !== 'over' && !this.#isHole) run()
    })
  }

  #emit(event: ModelEvent): void {
    this.#arrives(event.type, () => this.#own.listener.event(event))
  }

  #arrives(what: string, run: () => void): void {
    this.#later(this.#world.times.oneWayMs, () => this.#world.deliver(what, run))
  }

  #id(kind: string): string {
    this.#ids += 1
    return `${kind}_${this.#ids}`
  }

  #nextTurn(): string {
    return `turn_${this.#turns + 1}`
  }

  #add(role: 'caller' | 'agent' | 'system' | 'tool', item: Item): void {
    const previousItemId = this.#items.at(-1)?.id ?? null
    this.#items.push(item)
    this.#emit({ type: 'item_added', itemId: item.id, previousItemId, role })
  }

  #commit(text: string, audioEndMs: number): void {
    const id = this.#nextTurn()
    this.#turns += 1
    const previousItemId = this.#items.at(-1)?.id ?? null
    this.#emit({ type: 'speech_stopped', itemId: id, audioEndMs })
    this.#emit({ type: 'committed', itemId: id, previousItemId })
    this.#add('caller', { id, line: { role: 'caller', text }, audioMs: 0, call: null })
    const { transcriptMs } = this.#world.times
    const waitMs = transcriptMs[this.#turns % transcriptMs.length] ?? 0
    this.#later(waitMs, () => this.#emit({ type: 'caller_transcript', itemId: id, text }))
  }

  #obey(command: ModelCommand): void {
    switch (command.type) {
      case 'respond':
        return this.#respond(command)
      case 'cancel':
        return this.#cancel(command.responseId)
      case 'truncate':
        return this.#truncate(command.itemId, command.audioEndMs)
      case 'delete_item':
        return this.#delete(command.itemId)
      case 'system_message':
        return this.#told(command.text)
      case 'tool_result':
        return this.#toolAnswered(command.callId, command.output)
    }
  }

  #refuse(code: string, requestId: string | null = null): void {
    this.#own.offences.push(code)
    this.#emit({ type: 'refused', requestId, code, message: code, fault: 'benign' })
  }

  /** The conversation so far comes as one message and is known as the lines that it holds. */
  #told(text: string): void {
    const isHistory = this.#items.length === 0 && this.#own.epoch > 1 && HISTORY.test(text)
    const [first, ...lines] = isHistory ? linesOf(text) : [{ role: 'system', text }]
    const id = this.#id('item')
    this.#add('system', { id, line: first ?? null, audioMs: 0, call: null })
    for (const line of lines) this.#items.push({ id, line, audioMs: 0, call: null })
  }

  #toolAnswered(callId: string, output: string): void {
    const call = this.#items.find((item) => item.call?.id === callId)?.call
    if (!call) return this.#refuse('unknown_call')
    const line = { role: 'system', text: `The tool ${call.name} has answered: ${output}` }
    this.#add('tool', { id: this.#id('item'), line, audioMs: 0, call: null })
  }

  #truncate(itemId: string, audioEndMs: number): void {
    const item = this.#items.find(({ id }) => id === itemId)
    if (!item || audioEndMs < 1 || audioEndMs > item.audioMs) return this.#refuse('item_truncate_invalid')
    if (item.line)
      item.line.text = item.line.text.slice(0, Math.floor((item.line.text.length * audioEndMs) / item.audioMs))
    item.audioMs = audioEndMs
  }

  #delete(itemId: string): void {
    const at = this.#items.findIndex(({ id }) => id === itemId)
    if (at === -1) return this.#refuse('item_delete_invalid')
    this.#items.splice(at, 1)
  }

  #cancel(responseId: string): void {
    const active = this.#active
    // It may have ended while the request was on its way: a server says so, and that is all.
    if (active?.responseId !== responseId) return this.#tellNotActive()
    active.generation.stop()
    for (let late = 0; late < LATE_DELTAS && active.audioMs > 0; late++) this.#audio(active)
    this.#end(active, 'cancelled')
  }

  #tellNotActive(): void {
    const code = 'response_cancel_not_active'
    this.#emit({ type: 'refused', requestId: null, code, message: code, fault: 'benign' })
  }

  #respond({ requestId, instructions, output, noTools }: Respond): void {
    const heardMs = new Map(this.#items.map(({ id, audioMs }) => [this.#qualified(id), audioMs]))
    this.asked.push({ atMs: this.#world.clock.monotonicMs(), heardMs })
    if (this.#active) return this.#refuse('conversation_already_has_active_response', requestId)
    const [mishap] = this.#own.mishaps
    if (mishap === 'refused' || mishap === 'limited') {
      this.#own.mishaps.shift()
      const [code, fault] =
        mishap === 'refused' ? (['invalid_value', 'setup'] as const) : (['rate_limit_exceeded', 'retry'] as const)
      return this.#emit({ type: 'refused', requestId, code, message: code, fault })
    }
    this.answer(instructions, { isWritten: output === 'text', mayCall: noTools !== true })
  }

  /** Begins an answer; by itself when nobody asked for one. */
  answer(instructions: string | null, { isWritten = false, mayCall = true } = {}): void {
    const { brain, clock } = this.#world
    const lines = this.#items.flatMap(({ line }) => (line ? [line] : []))
    const { ahead, ...whole } = brain(lines, instructions)
    const said = mayCall ? whole : { text: whole.text }
    // What goes wrong does so in an answer of one item, and what is written is.
    const isBroken = this.#own.mishaps.length > 0 || this.#world.times.brokenAfterMs !== undefined
    const first = isBroken || isWritten ? undefined : ahead
    const responseId = this.#id('resp')
    const item = this.#answered(responseId, first?.text ?? said.text, instructions)
    const active: Active = { responseId, ...item, instructions, generation: new Generation(clock, []), audioMs: 0 }
    this.#active = active
    const started = () => this.#emit({ type: 'response_started', responseId })
    const pieces = first
      ? this.#piecesInTwo(active, { first, said }, started)
      : this.#pieces(active, said, { isWritten, started })
    active.generation = new Generation(clock, pieces)
  }

  /** One more item of the agent's words. */
  #answered(responseId: string, text: string, instructions: string | null): Pick<Active, 'itemId' | 'answer'> {
    const itemId = this.#id('item')
    const { answers } = this.#own
    const answer = answers.length
    const ids = { responseId: this.#qualified(responseId), itemId: this.#qualified(itemId) }
    const cancelledAtMs = answers.find((one) => one.responseId === ids.responseId)?.cancelledAtMs ?? null
    answers.push({ answer, ...ids, text, epoch: this.#own.epoch, instructions, madeMs: 0, cancelledAtMs })
    return { itemId, answer }
  }

  #piecesInTwo(active: Active, { first, said }: { first: Ahead; said: Answer }, started: () => void): Piece[] {
    const { times, clock } = this.#world
    const item = agentItem(active.itemId)
    const begin = () => {
      started()
      this.#add('agent', item)
    }
    const thinks = () => {
      this.#itemWhole(active, item, first.text)
      if (first.isNamed) this.#emit({ type: 'preamble', responseId: active.responseId, itemId: item.id })
      Object.assign(active, this.#answered(active.responseId, said.text, active.instructions), { audioMs: 0 })
      const rest = this.#pieces(active, said, { isWritten: false, started: () => {} })
      active.generation = new Generation(clock, [{ afterMs: first.thinkMs, run: () => {} }, ...rest])
    }
    const deltas = this.#deltas(active, item, { text: first.text, isWritten: false })
    return [{ afterMs: times.firstAudioMs, run: begin }, ...deltas, { afterMs: times.deltaEveryMs, run: thinks }]
  }

  #deltas(active: Active, item: Item, { text, isWritten }: { text: string; isWritten: boolean }): Piece[] {
    const { times } = this.#world
    const count = Math.ceil(spokenMs(text) / times.deltaMs)
    return Array.from({ length: count }, (_, index) => ({
      afterMs: times.deltaEveryMs,
      run: () => this.#delta(active, item, { text: part(text, index, count), isWritten }),
    }))
  }

  #pieces(active: Active, { text, tool, also, alsoAfterMs = 0 }: Answer, { isWritten, started }: Beginning): Piece[] {
    const { times } = this.#world
    const mishap = this.#own.mishaps.shift()
    if (mishap === 'silent') return []
    const item = agentItem(active.itemId)
    const begin = () => {
      started()
      this.#add('agent', item)
    }
    const deltas = this.#deltas(active, item, { text, isWritten })
    if (mishap) {
      const status = mishap === 'content_filter' || mishap === 'max_output_tokens' ? 'incomplete' : 'failed'
      const fail = { afterMs: times.deltaEveryMs, run: () => this.#end(active, status, mishap) }
      const isBegun = mishap === 'server_error' || mishap === 'max_output_tokens'
      return [{ afterMs: times.firstAudioMs, run: begin }, ...deltas.slice(0, isBegun ? 3 : 0), fail]
    }
    const end = () => {
      this.#whole(active, item, { text, tool, isWritten })
      if (!also) return this.#end(active, 'completed')
      const more = () => {
        this.#call(active.responseId, also)
        this.#end(active, 'completed')
      }
      active.generation = new Generation(this.#world.clock, [{ afterMs: alsoAfterMs, run: more }])
    }
    const { brokenAfterMs } = times
    if (brokenAfterMs !== undefined) {
      return [{ afterMs: times.firstAudioMs, run: begin }, ...deltas.slice(0, brokenAfterMs / times.deltaMs)]
    }
    return [{ afterMs: times.firstAudioMs, run: begin }, ...deltas, { afterMs: times.deltaEveryMs, run: end }]
  }

  #qualified(id: string): string {
    return this.#own.epoch === 1 ? id : `${this.#own.epoch}·${id}`
  }

  #delta(active: Active, item: Item, { text, isWritten }: { text: string; isWritten: boolean }): void {
    const { responseId } = active
    if (item.line) item.line.text += text
    if (isWritten) return this.#words(active, { text, final: false })
    this.#emit({ type: 'agent_transcript', responseId, itemId: item.id, text, final: false })
    this.#audio(active)
    item.audioMs = active.audioMs
  }

  /** Words in place of audio: who speaks them for the model is to know of which answer they are. */
  #words({ responseId, itemId, answer }: Active, { text, final }: { text: string; final: boolean }): void {
    this.#arrives(`words ${answer}`, () => {
      this.#own.written(answer)
      this.#own.listener.event({ type: 'agent_text', responseId, itemId, text, final })
    })
  }

  #audio(active: Active): void {
    const { answer, itemId } = active
    const { deltaMs } = this.#world.times
    active.audioMs += deltaMs
    const made = this.#own.answers[answer]
    if (made) made.madeMs += deltaMs
    const payload = agentAudio(answer, deltaMs)
    this.#arrives(`audio ${answer}`, () => this.#own.listener.audio(active.responseId, itemId, payload))
  }

  #whole(active: Active, item: Item, { text, tool, isWritten }: Answer & { isWritten: boolean }): void {
    const { responseId } = active
    if (isWritten) this.#words(active, { text, final: true })
    else this.#itemWhole(active, item, text)
    if (!tool) return
    active.hasCalled = true
    this.#call(responseId, tool)
  }

  #itemWhole({ responseId }: Active, { id: itemId }: Item, text: string): void {
    this.#emit({ type: 'agent_transcript', responseId, itemId, text, final: true })
    this.#emit({ type: 'audio_done', responseId, itemId })
  }

  #call(responseId: string, name: string): void {
    const callId = this.#id('call')
    const itemId = this.#id('item')
    this.#add('tool', { id: itemId, line: null, audioMs: 0, call: { id: callId, name } })
    this.#emit({ type: 'tool_call', responseId, itemId, callId, name, argumentsText: '{}' })
  }

  #end(active: Active, status: Done['status'], errorCode: string | null = null): void {
    if (this.#active === active) this.#active = null
    const usage = { inputTokens: 10, outputTokens: 10, cachedTokens: 5, audioSeconds: active.audioMs / 1_000 }
    const { responseId } = active
    const fault = status !== 'failed' ? null : errorCode === 'insufficient_quota' ? 'fatal' : 'retry'
    const done: ModelEvent = { type: 'response_done', responseId, status, errorCode, fault, usage }
    this.#arrives('response_done', () => {
      this.#own.used(usage.audioSeconds)
      this.#own.listener.event(done)
    })
  }
}
