import type {
  ModelCommand,
  ModelEvent,
  ModelFault,
  ModelListener,
  ModelSession,
} from '../../src/platform/realtime/port.ts'
import { agentAudio, soundIn } from './audio.ts'
import { type Answer, type Line, linesOf, spokenMs } from './brain.ts'
import { Generation, type Piece } from './generation.ts'
import { type Heard, Hearing } from './hearing.ts'
import type { Answered, ModelWorld } from './model-world.ts'
import { Regrouped } from './regrouped.ts'

type Item = { id: string; line: Line | null; audioMs: number; call: { id: string; name: string } | null }
type Active = { responseId: string; generation: Generation; audioMs: number }
type Own = { listener: ModelListener; epoch: number; answers: Answered[]; offences: string[] }

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
  readonly commands: ModelCommand[] = []

  constructor(world: ModelWorld, own: Own) {
    this.#world = world
    this.#own = own
    this.#hearing = new Hearing(world.times)
    world.clock.after(world.times.connectMs, () => {
      if (this.#state === 'over') return
      this.#state = 'ready'
      this.#emit({ type: 'ready' })
    })
  }

  get isOpen(): boolean {
    return this.#state !== 'over'
  }

  get isAnswering(): boolean {
    return this.#active !== null
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
    if (command.type === 'cancel') this.#noteCancel(this.#qualified(command.responseId))
    this.#later(this.#world.times.oneWayMs, () => this.#obey(command))
  }

  #noteCancel(responseId: string): void {
    const answered = this.#own.answers.find((one) => one.responseId === responseId)
    if (answered) answered.cancelledAtMs ??= this.#world.clock.monotonicMs()
  }

  bufferedBytes(): number {
    return 0
  }

  close(): void {
    this.#over()
  }

  /** The connection ends by itself: what is on its way still arrives when it ended in order. */
  drop(code: string, fault: ModelFault = 'retry'): void {
    if (this.#state === 'over') return
    this.#over()
    this.#own.listener.event({ type: 'closed', code, message: 'the connection ended', fault })
  }

  /** The network swallows everything from now on, and nobody is told. */
  fallIntoHole(): void {
    this.#isHole = true
    this.#active?.generation.stop()
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
        return this.#respond(command.requestId, command.instructions)
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
    const isHistory = this.#items.length === 0 && this.#own.epoch > 1
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
    // It may have ended while the request was on its way: a real server says so, and that is all.
    if (active?.responseId !== responseId) return
    active.generation.stop()
    const { answer, itemId } = this.#own.answers.at(-1) ?? { answer: 0, itemId: '' }
    for (let late = 0; late < LATE_DELTAS && active.audioMs > 0; late++) this.#audio(active, answer, itemId)
    this.#end(active, 'cancelled')
  }

  #respond(requestId: string, instructions: string | null): void {
    if (this.#active) return this.#refuse('conversation_already_has_active_response', requestId)
    this.answer(instructions)
  }

  /** Begins an answer; by itself when nobody asked for one. */
  answer(instructions: string | null): void {
    const { brain, clock } = this.#world
    const lines = this.#items.flatMap(({ line }) => (line ? [line] : []))
    const responseId = this.#id('resp')
    const active: Active = { responseId, generation: new Generation(clock, []), audioMs: 0 }
    this.#active = active
    active.generation = new Generation(clock, this.#pieces(active, brain(lines, instructions)))
  }

  #pieces(active: Active, { text, tool }: Answer): Piece[] {
    const { times } = this.#world
    const itemId = this.#id('item')
    const answer = this.#own.answers.length
    const { responseId } = active
    this.#own.answers.push({
      answer,
      responseId: this.#qualified(responseId),
      itemId: this.#qualified(itemId),
      text,
      cancelledAtMs: null,
    })
    const item: Item = { id: itemId, line: { role: 'agent', text: '' }, audioMs: 0, call: null }
    const begin = () => {
      this.#emit({ type: 'response_started', responseId })
      this.#add('agent', item)
    }
    const count = Math.ceil(spokenMs(text) / times.deltaMs)
    const deltas = Array.from({ length: count }, (_, index) => ({
      afterMs: times.deltaEveryMs,
      run: () => this.#delta(active, item, { text: part(text, index, count), answer }),
    }))
    const end = () => this.#whole(active, item, { text, tool })
    const { brokenAfterMs } = times
    if (brokenAfterMs !== undefined) {
      return [{ afterMs: times.firstAudioMs, run: begin }, ...deltas.slice(0, brokenAfterMs / times.deltaMs)]
    }
    return [{ afterMs: times.firstAudioMs, run: begin }, ...deltas, { afterMs: times.deltaEveryMs, run: end }]
  }

  #qualified(id: string): string {
    return this.#own.epoch === 1 ? id : `${this.#own.epoch}·${id}`
  }

  #delta(active: Active, item: Item, { text, answer }: { text: string; answer: number }): void {
    const { responseId } = active
    if (item.line) item.line.text += text
    this.#emit({ type: 'agent_transcript', responseId, itemId: item.id, text, final: false })
    this.#audio(active, answer, item.id)
    item.audioMs = active.audioMs
  }

  #audio(active: Active, answer: number, itemId: string): void {
    const { deltaMs } = this.#world.times
    active.audioMs += deltaMs
    const payload = agentAudio(answer, deltaMs)
    this.#arrives(`audio ${answer}`, () => this.#own.listener.audio(active.responseId, itemId, payload))
  }

  #whole(active: Active, item: Item, { text, tool }: Answer): void {
    const { responseId } = active
    this.#emit({ type: 'agent_transcript', responseId, itemId: item.id, text, final: true })
    this.#emit({ type: 'audio_done', responseId, itemId: item.id })
    if (tool) this.#call(responseId, tool)
    this.#end(active, 'completed')
  }

  #call(responseId: string, name: string): void {
    const callId = this.#id('call')
    const itemId = this.#id('item')
    this.#add('tool', { id: itemId, line: null, audioMs: 0, call: { id: callId, name } })
    this.#emit({ type: 'tool_call', responseId, itemId, callId, name, argumentsText: '{}' })
  }

  #end(active: Active, status: 'completed' | 'cancelled'): void {
    if (this.#active === active) this.#active = null
    const usage = { inputTokens: 10, outputTokens: 10, cachedTokens: 5, audioSeconds: active.audioMs / 1_000 }
    const { responseId } = active
    this.#emit({ type: 'response_done', responseId, status, errorCode: null, fault: null, usage })
  }
}

function part(text: string, index: number, count: number): string {
  const at = (n: number): number => Math.floor((text.length * n) / count)
  return text.slice(at(index), at(index + 1))
}
