import type { ModelCommand, ModelEvent, ModelUsage } from '../../platform/realtime/port.ts'
import { AudioRooms } from '../audio-rooms.ts'
import { mulawBytes } from '../caller-audio.ts'
import { HOLD_CHORDS } from '../hold-music.ts'
import { keyTones } from '../key-tones.ts'
import { BYTES_PER_MS } from '../playback.ts'
import { BEEP, BEEP_ID } from '../recording/beep.ts'
import { UnheardAudio } from '../unheard-audio.ts'
import type { LiveNote, SessionEffect, SessionEvent, TimerName, Turn } from './events.ts'
import type { Plan } from './plan.ts'
import { reduce } from './reduce.ts'
import type { Resumption } from './resumption.ts'
import { newSession, type SessionState } from './state.ts'

const NO_USAGE: ModelUsage = { inputTokens: 1, outputTokens: 1, cachedTokens: 0, audioSeconds: 1 }

/** Of an agent that leaves it at its defaults. */
export const INTERRUPTION: Plan['interruption'] = {
  ...{ enabled: true, minSpeechMs: 300, greetingGuardMs: 1_000, backchannels: [], resumeFalseMs: 2_000 },
}

type Spoken = { fromMs: number; untilMs: number }

/** What a call of the default agent is to do, but for `changes`. */
export function planWith(changes: Partial<Plan> = {}): Plan {
  return {
    capabilities: { truncation: true, callerTranscripts: true, textOutput: true, nativeMulaw: true },
    clips: [],
    greeting: 'Welcome.',
    interruption: INTERRUPTION,
    hearing: { prefixMs: 300, silenceMs: 500 },
    idle: { afterMs: 30_000, prompts: [], goodbye: '' },
    dtmf: { maxDigits: 20, endKey: '#', timeoutMs: 3_000 },
    fillers: { afterMs: 2_000, phrases: [] },
    holdMs: 3_000,
    bridgesGaps: true,
    modelStallMs: 6_000,
    maxCallMs: 1_800_000,
    price: null,
    budgetUsd: null,
    budgetMs: null,
    modelSessionMs: 3_000_000,
    voicemail: null,
    recordBeep: false,
    isResumable: true,
    fallbackNumber: null,
    ...changes,
  }
}

/** Drives the reducer alone, with the timers that it asks for: what it does is kept as a list of effects. */
export class Call {
  readonly effects: SessionEffect[] = []
  state: SessionState
  nowMs = 0
  #timers = new Map<TimerName, number>()
  #marks: string[] = []
  #sounds = 0
  readonly #unheard = new UnheardAudio(new AudioRooms())

  constructor(changes: Partial<Plan> = {}, resumption: Resumption | null = null) {
    this.state = newSession(planWith(changes), 0, { resumption })
    this.do({ type: 'opened' })
  }

  /** A call whose model is ready and has said its greeting, all of which was heard. */
  static greeted(changes: Partial<Plan> = {}): Call {
    const call = new Call(changes)
    call.model({ type: 'ready' })
    call.answer('resp_greeting', 'item_greeting', 1_000)
    call.wait(1_000)
    call.echoAll()
    return call
  }

  /** Feeds one event; the effects that follow from it. */
  do(event: SessionEvent): SessionEffect[] {
    const [state, effects] = reduce(this.state, event, this.nowMs)
    this.#unheard.follow(this.state.playback, state.playback, this.nowMs)
    this.state = state
    this.effects.push(...effects)
    for (const effect of effects) this.#obey(effect)
    // What follows from an effect is looked at when all of them are done.
    for (const effect of effects) {
      if (effect.type === 'beep') this.audio(BEEP_ID, BEEP_ID, mulawBytes(BEEP) / BYTES_PER_MS)
      if (effect.type === 'play_clip') this.#play(effect)
      if (effect.type === 'play_chords') this.audio(effect.id, effect.id, mulawBytes(HOLD_CHORDS) / BYTES_PER_MS)
      if (effect.type === 'play_keys') this.#press(effect)
      if (effect.type === 'play_aside') this.#playAside(effect.id)
    }
    return effects
  }

  #obey(effect: SessionEffect): void {
    if (effect.type === 'arm') this.#timers.set(effect.timer, this.nowMs + effect.ms)
    if (effect.type === 'disarm') this.#timers.delete(effect.timer)
    if (effect.type === 'mark') this.#marks.push(effect.name)
    if (effect.type === 'clear') this.#marks = []
    if (effect.type === 'drop_aside') this.#unheard.takeAside()
    if (effect.type === 'finish') this.#timers.clear()
  }

  #play({ id, index }: Extract<SessionEffect, { type: 'play_clip' }>): void {
    this.audio(id, id, this.state.plan.clips[index]?.ms ?? 0)
  }

  #press({ id, keys }: Extract<SessionEffect, { type: 'play_keys' }>): void {
    this.audio(id, id, mulawBytes(keyTones(keys)) / BYTES_PER_MS)
  }

  #playAside(id: string): void {
    for (const { itemId, payload } of this.#unheard.takeAside()) {
      this.audio(id, itemId, mulawBytes(payload) / BYTES_PER_MS)
    }
    this.do({ type: 'went_on' })
  }

  model(event: ModelEvent): SessionEffect[] {
    return this.do({ type: 'model', epoch: this.state.model.epoch, event })
  }

  /** Time passes, and the timers that fall due meanwhile fire. */
  wait(ms: number): void {
    const endMs = this.nowMs + ms
    for (;;) {
      const [timer, dueMs] = [...this.#timers].sort(([, a], [, b]) => a - b)[0] ?? [null, Number.POSITIVE_INFINITY]
      if (timer === null || dueMs > endMs) break
      this.nowMs = Math.max(this.nowMs, dueMs)
      this.#timers.delete(timer)
      this.do({ type: 'fired', timer })
    }
    this.nowMs = endMs
  }

  /** Timers that wait to fire. */
  get timers(): TimerName[] {
    return [...this.#timers.keys()]
  }

  begins(responseId: string): void {
    this.model({ type: 'response_started', responseId })
  }

  /** A piece of audio was passed on to the carrier. */
  audio(responseId: string, itemId: string, ms: number): void {
    this.#sounds += 1
    const mark = `m${this.#sounds}`
    this.#marks.push(mark)
    this.#unheard.add(itemId, Buffer.from(Buffer.alloc(ms * BYTES_PER_MS).toString('base64')), ms)
    this.do({ type: 'sent', responseId, itemId, ms, mark })
  }

  words(responseId: string, itemId: string, text: string): void {
    this.model({ type: 'item_added', itemId, previousItemId: null, role: 'agent' })
    this.model({ type: 'agent_transcript', responseId, itemId, text, final: true })
  }

  ends(responseId: string, facts: Partial<Extract<ModelEvent, { type: 'response_done' }>> = {}): void {
    const done = { status: 'completed', errorCode: null, fault: null, usage: NO_USAGE } as const
    this.model({ type: 'response_done', responseId, ...done, ...facts })
  }

  /** One item of an answer, all of its audio at once. */
  item(responseId: string, itemId: string, ms: number, text: string): void {
    this.words(responseId, itemId, text)
    this.audio(responseId, itemId, ms)
    this.model({ type: 'audio_done', responseId, itemId })
  }

  /** A whole answer, all of its audio at once. */
  answer(responseId: string, itemId: string, ms: number, text = 'Some words.'): void {
    this.begins(responseId)
    this.item(responseId, itemId, ms, text)
    this.ends(responseId)
  }

  /** The carrier echoes every mark that it was sent. */
  echoAll(): void {
    const marks = this.#marks
    this.#marks = []
    for (const name of marks) this.do({ type: 'mark', name })
  }

  /** The caller begins to speak and is loud for `ms` since. */
  speaks(itemId: string, ms: number): void {
    this.model({ type: 'speech_started', itemId, audioStartMs: 0 })
    this.sounds(ms)
  }

  /** The caller is loud for `ms`. */
  sounds(ms: number): void {
    for (let soundedMs = 0; soundedMs < ms; soundedMs += 100) {
      this.wait(100)
      this.do({ type: 'caller_audio', ms: 100, loudMs: 100 })
    }
  }

  /** Time passes in which the caller is not loud. */
  isQuiet(ms: number): void {
    for (let quietMs = 0; quietMs < ms; quietMs += 100) {
      this.wait(100)
      this.do({ type: 'caller_audio', ms: 100, loudMs: 0 })
    }
  }

  /** The model tells that speech is over; `spoken` is where it was in the audio of its session. */
  stops(itemId: string, spoken: Spoken | null = null): void {
    const { silenceMs } = this.state.plan.hearing
    const audioEndMs = spoken ? spoken.untilMs + (silenceMs ?? 0) : 0
    this.model({ type: 'speech_stopped', itemId, audioEndMs })
    this.model({ type: 'committed', itemId, previousItemId: null })
  }

  /** The model finds speech in what was kept for it, all at once. */
  hears(itemId: string, spoken: Spoken): void {
    const audioStartMs = Math.max(0, spoken.fromMs - this.state.plan.hearing.prefixMs)
    this.model({ type: 'speech_started', itemId, audioStartMs })
    this.stops(itemId, spoken)
  }

  /** The caller says something of `ms`, which the model takes for a turn. */
  says(itemId: string, ms: number, text: string | null = 'What is it?'): void {
    this.speaks(itemId, ms)
    this.stops(itemId)
    if (text !== null) this.model({ type: 'caller_transcript', itemId, text })
  }

  /** The commands to the model so far, of one type. */
  commands<T extends ModelCommand['type']>(type: T): Extract<ModelCommand, { type: T }>[] {
    return this.effects.flatMap((effect) =>
      effect.type === 'command' && effect.command.type === type
        ? [effect.command as Extract<ModelCommand, { type: T }>]
        : [],
    )
  }

  /** The effects so far, of one type. */
  all<T extends SessionEffect['type']>(type: T): Extract<SessionEffect, { type: T }>[] {
    return this.effects.filter((effect): effect is Extract<SessionEffect, { type: T }> => effect.type === type)
  }

  notes<T extends LiveNote['type']>(type: T): Extract<LiveNote, { type: T }>[] {
    return this.all('note')
      .map(({ note }) => note)
      .filter((note): note is Extract<LiveNote, { type: T }> => note.type === type)
  }

  /** The record as it stands, in its order. */
  get turns(): Turn[] {
    const kept = new Map<string, Turn>()
    for (const effect of this.effects) {
      if (effect.type === 'keep') kept.set(effect.turn.itemId, effect.turn)
      if (effect.type === 'forget') kept.delete(effect.itemId)
    }
    return [...kept.values()].sort((a, b) => a.seq - b.seq)
  }
}

/** What a list of effects does, in a word each: the order is what matters. */
export function kinds(effects: readonly SessionEffect[]): string[] {
  return effects.map((effect) => (effect.type === 'command' ? effect.command.type : effect.type))
}
