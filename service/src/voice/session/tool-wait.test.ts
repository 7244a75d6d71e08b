import { describe, expect, it } from 'vitest'
import { Call, INTERRUPTION } from './call.fixture.ts'
import type { SessionEffect } from './events.ts'
import type { Plan } from './plan.ts'

const CLIP = { kind: 'filler' as const, text: 'One moment.', ms: 800 }
const CHORDS_MS = 500
const MUSIC = { holdsForTools: true, holdMs: 6_000 }
/** No silence is longer, give or take a tenth. */
const LONGEST_MS = 2_600

/** A call whose answer calls a tool and says nothing; `thoughtMs` after the caller's turn. */
function waiting(plan: Partial<Plan> = {}, thoughtMs = 0): Call {
  const call = Call.greeted(plan)
  call.says('turn_1', 500)
  call.wait(thoughtMs)
  call.begins('resp_1')
  calls(call, 'c')
  call.ends('resp_1')
  return call
}

function calls(call: Call, callId: string, name = 'look_up'): void {
  const tool = { responseId: 'resp_1', itemId: `i_${callId}`, callId, name, argumentsText: '{}' }
  call.model({ type: 'tool_call', ...tool })
}

/** The same, which also ends the call behind that tool, and may have said goodbye. */
function ending(plan: Partial<Plan>, goodbye = ''): Call {
  const call = Call.greeted(plan)
  call.says('turn_1', 500)
  call.begins('resp_1')
  if (goodbye !== '') {
    call.words('resp_1', 'item_1', goodbye)
    call.audio('resp_1', 'item_1', 500)
    call.model({ type: 'audio_done', responseId: 'resp_1', itemId: 'item_1' })
  }
  calls(call, 'c')
  calls(call, 'end', 'end_call')
  call.ends('resp_1')
  call.do({ type: 'tool_finished', outcome: { callId: 'end', output: '{}', status: 'ok', endsCall: true } })
  return call
}

function done(call: Call): void {
  call.do({ type: 'tool_finished', outcome: { callId: 'c', output: '{}', status: 'ok', endsCall: false } })
}

/** A sound of the service's that was sent, and when. */
type Heard = { kind: 'clip' | 'chords' | 'hold'; atMs: number; ms: number }

function heardOf(effect: SessionEffect, atMs: number): Heard | null {
  if (effect.type === 'play_clip') return { kind: 'clip', atMs, ms: CLIP.ms }
  if (effect.type === 'play_chords') return { kind: 'chords', atMs, ms: CHORDS_MS }
  return effect.type === 'play_hold' ? { kind: 'hold', atMs, ms: effect.ms } : null
}

/** Lets time pass in which all that is to be played is sent, and each mark echoed when what is before it was heard; what was played. */
function listen(call: Call, ms: number): Heard[] {
  const sounds: Heard[] = []
  const marks: { name: string; dueMs: number; isFixtures: boolean }[] = []
  const untilMs = call.nowMs + ms
  let playsUntilMs = 0
  let seen = call.effects.length
  while (call.nowMs < untilMs) {
    call.wait(10)
    for (const effect of call.effects.slice(seen)) {
      const sound = heardOf(effect, call.nowMs)
      if (!sound || !('id' in effect)) continue
      sounds.push(sound)
      playsUntilMs = Math.max(playsUntilMs, call.nowMs) + sound.ms
      // The fixture sends clips and chords by itself.
      const isFixtures = sound.kind !== 'hold'
      marks.push({ name: effect.id, dueMs: playsUntilMs, isFixtures })
      const sent = { responseId: effect.id, itemId: effect.id, ms: sound.ms, mark: effect.id }
      if (!isFixtures) call.do({ type: 'sent', ...sent })
    }
    seen = call.effects.length
    for (const due of marks.filter(({ dueMs }) => dueMs <= call.nowMs)) {
      marks.splice(marks.indexOf(due), 1)
      if (due.isFixtures) call.echoAll()
      else call.do({ type: 'mark', name: due.name })
    }
  }
  return sounds
}

/** The longest time in which nothing was heard since `sinceMs`. */
function longestSilenceMs(call: Call, sounds: readonly Heard[], sinceMs: number): number {
  let longestMs = 0
  let quietSinceMs = sinceMs
  for (const { atMs, ms } of sounds) {
    longestMs = Math.max(longestMs, atMs - quietSinceMs)
    quietSinceMs = Math.max(quietSinceMs, atMs) + ms
  }
  return Math.max(longestMs, call.nowMs - quietSinceMs)
}

describe('A caller who waits a minute for a tool', () => {
  it.each<[string, Partial<Plan>]>([
    ['a filler of the agent', { clips: [CLIP], fillers: { afterMs: 2_000, phrases: ['One moment.'] } }],
    ['the built-in one', { clips: [CLIP] }],
    ['one that is to come late', { clips: [CLIP], fillers: { afterMs: 30_000, phrases: [] } }],
    ['no clip, and a model that finds no words', {}],
    ['something to hear on hold', { clips: [CLIP], ...MUSIC }],
    ['that, and a model that finds no words', { holdsForTools: true, holdMs: 6_000 }],
  ])('is never left in silence for more than two and a half seconds: %s', (_what, plan) => {
    const call = waiting(plan)
    const sinceMs = call.nowMs
    const sounds = listen(call, 60_000)
    expect(longestSilenceMs(call, sounds, sinceMs)).toBeLessThanOrEqual(LONGEST_MS)
    expect(call.all('clear')).toEqual([])
  })

  it('hears the filler first when it is time for that, and chords, and about every ten seconds the filler again', () => {
    const sounds = listen(waiting({ clips: [CLIP] }), 30_000)
    expect(sounds[0]?.atMs).toBe(1_500 + 2_000)
    expect(sounds.slice(0, 6).map(({ kind }) => kind)).toEqual(['clip', 'chords', 'chords', 'clip', 'chords', 'chords'])
    const [first = 0, second = 0] = sounds.filter(({ kind }) => kind === 'clip').map(({ atMs }) => atMs)
    expect(Math.abs(second - first - 10_000)).toBeLessThanOrEqual(1_000)
  })

  it('hears it so long after the words with which the agent has called the tool', () => {
    const call = Call.greeted({ clips: [CLIP], fillers: { afterMs: 1_000, phrases: [] } })
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.words('resp_1', 'item_1', 'I look it up.')
    call.audio('resp_1', 'item_1', 3_000)
    call.model({ type: 'audio_done', responseId: 'resp_1', itemId: 'item_1' })
    calls(call, 'c')
    call.ends('resp_1')
    const heardAtMs = call.nowMs + 3_000
    expect(listen(call, 4_500).map(({ kind, atMs }) => [kind, atMs])).toEqual([['clip', heardAtMs + 1_000]])
  })

  it('hears it sooner where the model has taken its time before it called the tool', () => {
    const call = waiting({ clips: [CLIP] }, 1_500)
    expect(listen(call, 3_000).map(({ kind, atMs }) => [kind, atMs])).toEqual([['clip', 1_500 + 2_500]])
  })

  it('hears music in place of chords where the agent has some, and the filler between two stretches of it', () => {
    const sounds = listen(waiting({ clips: [CLIP], ...MUSIC }), 20_000)
    expect(sounds.map(({ kind }) => kind).slice(0, 5)).toEqual(['clip', 'hold', 'hold', 'hold', 'clip'])
    expect(sounds.some(({ kind }) => kind === 'chords')).toBe(false)
  })

  it('hears words of the model where there is no clip, asked for one at a time and other ones later, and chords until they come', () => {
    const call = waiting()
    expect(listen(call, 4_000).map(({ kind }) => kind)).toEqual(['chords'])
    call.answer('filler', 'item_filler', 800, 'One moment.')
    listen(call, 20_000)
    const asked = call.commands('respond').slice(2)
    expect(asked.map(({ instructions }) => instructions)).toEqual([
      expect.stringContaining('takes a moment'),
      expect.stringContaining('a little longer'),
    ])
  })
})

describe('What bridges a tool', () => {
  it('is not heard over the caller, nor over the answer to them, and goes on behind it', () => {
    const call = waiting({ clips: [CLIP] })
    listen(call, 3_000)
    call.speaks('turn_2', 500)
    expect(listen(call, 500)).toEqual([])
    call.sounds(3_000)
    call.stops('turn_2')
    call.model({ type: 'caller_transcript', itemId: 'turn_2', text: 'Are you still there?' })
    call.answer('resp_2', 'item_2', 3_000, 'I am.')
    const spokenAtMs = call.nowMs
    const [next] = listen(call, 8_000)
    expect(Math.abs((next?.atMs ?? 0) - spokenAtMs - 3_000 - 2_500)).toBeLessThanOrEqual(100)
  })

  it('is stopped by a caller who speaks, which is no interruption of the agent', () => {
    const call = waiting()
    listen(call, 2_510)
    call.speaks('turn_2', 400)
    expect([call.all('clear').length, call.state.latency.interruptions]).toEqual([1, 0])
  })

  it('gives way to the answer, and is over with the tool', () => {
    const call = waiting({ clips: [CLIP] })
    listen(call, 5_400)
    done(call)
    call.begins('resp_2')
    expect(call.all('clear')).toHaveLength(1)
    call.words('resp_2', 'item_2', 'Here it is.')
    call.audio('resp_2', 'item_2', 1_000)
    call.model({ type: 'audio_done', responseId: 'resp_2', itemId: 'item_2' })
    call.ends('resp_2')
    expect(listen(call, 8_000)).toEqual([])
    call.echoAll()
    expect(call.turns.at(-1)).toMatchObject({ text: 'Here it is.', heardMs: 1_000, interrupted: false })
  })

  it('leaves no silence behind it either, where the model takes its time with the answer', () => {
    for (const plan of [{ holdsForTools: true, holdMs: 6_000 }, {}]) {
      const call = waiting({ clips: [CLIP], ...plan })
      listen(call, 5_100)
      done(call)
      const [next] = listen(call, 3_500)
      expect((next?.atMs ?? 0) - call.nowMs + 3_500).toBeLessThanOrEqual(LONGEST_MS)
    }
  })

  it('does not cut off words that are heard behind it', () => {
    const call = waiting()
    call.begins('resp_2')
    listen(call, 2_600)
    call.audio('resp_2', 'item_2', 2_000)
    call.ends('resp_2')
    done(call)
    call.begins('resp_3')
    expect(call.all('clear')).toEqual([])
  })

  it('is nothing while the agent goes on talking beside the tool, and once nobody waits', () => {
    const call = Call.greeted({ clips: [CLIP], asyncTools: ['look_up'] })
    call.says('turn_1', 500)
    call.begins('resp_1')
    calls(call, 'c')
    call.ends('resp_1')
    call.answer('resp_2', 'item_2', 1_000, 'I am looking it up.')
    expect(listen(call, 20_000)).toEqual([])
  })

  it('is nothing where the agent is muted, or others have the call, and begins anew when it has it again', () => {
    for (const [away, back] of [
      [{ type: 'mute' }, { type: 'unmute' }],
      [{ type: 'take_over' }, { type: 'release' }],
    ] as const) {
      const call = waiting({ clips: [CLIP] })
      call.do(away)
      expect(listen(call, 10_000)).toEqual([])
      call.do(back)
      call.do({ type: 'person_written' })
      expect(listen(call, 6_000).map(({ kind }) => kind)).toContain('clip')
    }
  })

  it.each<[string, Partial<Plan>]>([
    ['with words', { clips: [CLIP] }],
    ['with music', { ...MUSIC, clips: [CLIP] }],
    ['without', {}],
  ])('is not heard behind a goodbye that the call is to end with, %s, until the caller keeps the call', (_, plan) => {
    const call = ending(plan, 'Goodbye.')
    const asked = call.commands('respond').length
    expect([listen(call, 9_000), call.commands('respond').length, call.notes('dead_air')]).toEqual([[], asked, []])
    call.says('turn_2', 500, 'One more thing.')
    call.answer('resp_2', 'item_2', 500, 'Yes?')
    const spokenAtMs = call.nowMs
    expect(longestSilenceMs(call, listen(call, 9_000), spokenAtMs + 500)).toBeLessThanOrEqual(LONGEST_MS)
  })

  it('is not heard behind that goodbye while no model is there either', () => {
    const call = ending({ clips: [CLIP] }, 'Goodbye.')
    for (let tries = 0; tries < 3; tries++) {
      call.model({ type: 'closed', code: '1006', message: 'gone', fault: 'retry' })
      expect(listen(call, 3_000)).toEqual([])
    }
  })

  it('is heard where a call is to end and nobody has said goodbye yet', () => {
    const call = waiting({ clips: [CLIP] })
    expect(listen(ending({ clips: [CLIP] }), 6_000)).toEqual(listen(call, 6_000))
  })

  it('is not heard in a call that is ending, nor by a caller who presses keys', () => {
    const ending = waiting({ clips: [CLIP] })
    ending.do({ type: 'end', reason: 'supervisor' })
    expect(listen(ending, 5_000)).toEqual([])
    const typing = waiting({ clips: [CLIP], fillers: { afterMs: 30_000, phrases: [] } })
    for (const digit of '12345') {
      typing.do({ type: 'dtmf', digit })
      expect(listen(typing, 800)).toEqual([])
    }
  })

  it('is neither begun nor gone on with for a caller who presses keys, and goes on once the entry is answered', () => {
    for (const heardMs of [0, 8_000]) {
      const call = waiting({ clips: [CLIP], ...MUSIC })
      listen(call, heardMs)
      for (const digit of '123456789012') {
        call.do({ type: 'dtmf', digit })
        expect(listen(call, 800)).toEqual([])
      }
      call.do({ type: 'dtmf', digit: '#' })
      call.answer('resp_2', 'item_2', 1_000, 'Thank you.')
      expect(listen(call, 8_000).map(({ kind }) => kind)).toContain('hold')
    }
  })

  it.each([
    ['whose agent is never interrupted', { enabled: false }],
    ['in the guard of a greeting', { greetingGuardMs: 30_000 }],
  ])('is stopped by a caller who speaks, or presses a key: %s', (_who, changes) => {
    const interruption = { ...INTERRUPTION, ...changes }
    const actions: ((call: Call) => void)[] = [
      (call) => call.speaks('turn_2', 400),
      (call) => call.do({ type: 'dtmf', digit: '1' }),
    ]
    for (const act of actions) {
      const call = waiting({ clips: [CLIP], ...MUSIC, interruption })
      expect(listen(call, 5_000).at(-1)?.kind).toBe('hold')
      act(call)
      expect([call.all('clear').length, call.state.latency.interruptions]).toEqual([1, 0])
      expect(listen(call, 1_000)).toEqual([])
    }
  })

  it('is not stopped by a cough, nor are the words behind it', () => {
    const call = waiting({ clips: [CLIP], ...MUSIC, interruption: { ...INTERRUPTION, enabled: false } })
    listen(call, 5_000)
    call.speaks('cough', 100)
    expect(call.all('clear')).toEqual([])
    call.begins('resp_2')
    call.audio('resp_2', 'item_2', 2_000)
    const before = call.all('clear').length
    call.sounds(500)
    expect(call.all('clear')).toHaveLength(before)
  })
})
