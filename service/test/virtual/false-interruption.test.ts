import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { replay } from '../../src/voice/event-log/replay.ts'
import { INTERRUPTION } from '../../src/voice/session/call.fixture.ts'
import { type Brain, restaurant, spokenMs } from './brain.ts'
import type { Act } from './caller.ts'
import { faultsOfAudio, faultsOfEnd, faultsOfHeard } from './cut-check.ts'
import { TIMES } from './model-world.ts'
import { World, type WorldOptions } from './world.ts'

const HOURS: Act = { cue: { afterSilenceMs: 500 }, say: 'What are your opening hours?', forMs: 1_800 }
const HANG_UP: Act = { cue: { afterMs: 16_000 }, hangUp: true }
const LIMIT_MS = 120_000

async function called(options: WorldOptions): Promise<World> {
  const world = new World(options)
  world.begin()
  await world.run(LIMIT_MS)
  expect([...faultsOfEnd(world), ...faultsOfAudio(world), ...faultsOfHeard(world), ...world.model.offences]).toEqual([])
  return world
}

/** How much audio there is of a text, in whole pieces. */
function audioMs(text: string): number {
  return Math.ceil(spokenMs(text) / TIMES.deltaMs) * TIMES.deltaMs
}

/** A caller who asks, and coughs for long in the middle of the answer. */
function coughing(intoSpeechMs: number, options: WorldOptions = {}): Promise<World> {
  return called({ script: [HOURS, { cue: { intoSpeechMs }, cough: 500 }, HANG_UP], ...options })
}

/** The answer about the opening hours, as the record has it, and how much of it there was to hear. */
function answerOf({ transcript, model }: World) {
  const turn = transcript.find(({ text, unheard }) => `${text} ${unheard}`.startsWith('We are open'))
  const { text = '', answer = -1 } = model.answers.find(({ text }) => text.startsWith('We are open')) ?? {}
  return { turn, answer, wholeMs: audioMs(text) }
}

describe('A long cough over the agent', () => {
  it('costs a pause and no word, whenever it comes: all of the answer is heard, once', async () => {
    for (let intoMs = 300; intoMs <= 6_300; intoMs += 500) {
      const world = await coughing(intoMs, { times: { transcriptMs: [150], firstAudioMs: 600 } })
      const { turn, answer, wholeMs } = answerOf(world)
      const heardMs = Math.round(world.heardMs(answer))
      // What was not made any more when the agent was stopped is asked for again.
      const isMadeAgain = (turn?.sentMs ?? 0) < wholeMs
      expect([intoMs, turn?.interrupted, Math.abs((turn?.sentMs ?? 0) - heardMs) <= 50]).toEqual([intoMs, false, true])
      expect([intoMs, isMadeAgain || turn?.unheard === '']).toEqual([intoMs, true])
      expect(world.transcript.filter(({ role }) => role === 'caller')).toHaveLength(1)
      expect(world.notes.some(({ type }) => type === 'dead_air')).toBe(false)
    }
  })

  it('whose words nobody can tell for long lets the agent go on, and it is not answered once it is told to be none', async () => {
    const world = await coughing(2_000, { times: { transcriptMs: [2_300], firstAudioMs: 3_000 } })
    const { turn, answer, wholeMs } = answerOf(world)
    expect([turn?.interrupted, turn?.sentMs, Math.round(world.heardMs(answer))]).toEqual([false, wholeMs, wholeMs])
    expect(world.model.answers.filter(({ cancelledAtMs }) => cancelledAtMs !== null)).toHaveLength(1)
  })

  it('that was a sentence after all is answered, however late its words are', async () => {
    const script: Act[] = [
      HOURS,
      { cue: { intoSpeechMs: 2_000 }, say: 'Do you have a table for two?', forMs: 1_500 },
      HANG_UP,
    ]
    for (const transcriptMs of [100, 1_900, 2_100, 2_600, 5_000]) {
      for (const firstAudioMs of [300, 3_500]) {
        const world = await called({ script, times: { transcriptMs: [transcriptMs], firstAudioMs } })
        const said = world.transcript.map(({ text }) => text)
        expect([transcriptMs, firstAudioMs, said.some((text) => text.startsWith('Yes, there is a table'))]).toEqual([
          ...[transcriptMs, firstAudioMs],
          true,
        ])
        expect(answerOf(world).turn?.interrupted).toBe(true)
      }
    }
  })

  it('in the greeting, by a caller who hangs up, over a tool, or just before another: nothing is said twice', async () => {
    const tails: Act[][] = [
      [{ cue: { afterMs: 300 }, hangUp: true }],
      [{ cue: { afterMs: 400 }, cough: 600 }, HANG_UP],
      [{ cue: { afterMs: 700 }, press: '5#' }, HANG_UP],
      [{ cue: { afterMs: 900 }, say: 'Yes, book it please.', forMs: 1_200 }, HANG_UP],
    ]
    for (const tail of tails) {
      for (const transcriptMs of [150, 1_200, 2_400]) {
        const script = [{ cue: { intoSpeechMs: 1_200 }, cough: 500 } as Act, ...tail]
        const plan = { greeting: 'Welcome to the Blue Door. What can I do for you on this fine day?' }
        const world = await called({
          script,
          plan,
          times: { transcriptMs: [transcriptMs] },
          toolMs: { book_table: 2_600 },
        })
        for (const { answer, text } of world.model.answers)
          expect(world.heardMs(answer)).toBeLessThanOrEqual(audioMs(text))
        expect(world.toolRuns.filter(({ name }) => name === 'book_table').length).toBeLessThanOrEqual(1)
      }
    }
  })
})

const LONG = 'This is what there is to say of it, and it takes its time. '

const cues = fc.oneof(
  fc.integer({ min: 100, max: 2_000 }).map((afterSilenceMs) => ({ afterSilenceMs })),
  fc.integer({ min: 20, max: 4_000 }).map((intoSpeechMs) => ({ intoSpeechMs })),
  fc.integer({ min: 0, max: 3_000 }).map((afterMs) => ({ afterMs })),
)
const acts: fc.Arbitrary<Act> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ cue: cues, cough: fc.integer({ min: 40, max: 1_500 }) }) },
  {
    weight: 2,
    arbitrary: fc
      .record({ cue: cues, forMs: fc.integer({ min: 150, max: 2_500 }) })
      .map((act) => ({ ...act, say: 'And then?' })),
  },
  { weight: 1, arbitrary: fc.record({ cue: cues, press: fc.constantFrom('1', '12#') }) },
)

describe('Any call with noises in it', () => {
  it('says nothing twice, knows what was heard, asks for one thing at a time, and ends with nothing left', async () => {
    const calls = fc.record({
      script: fc.array(acts, { minLength: 1, maxLength: 6 }),
      length: fc.integer({ min: 1, max: 4 }),
      resumeFalseMs: fc.constantFrom(1, 500, 2_000, 10_000),
      minSpeechMs: fc.constantFrom(0, 300),
      backchannels: fc.constantFrom([], ['and then']),
      times: fc.record({
        firstAudioMs: fc.integer({ min: 50, max: 4_000 }),
        deltaEveryMs: fc.integer({ min: 5, max: 150 }),
        transcriptMs: fc.array(fc.nat(4_000), { minLength: 1, maxLength: 3 }),
      }),
    })
    await fc.assert(
      fc.asyncProperty(calls, async ({ script, length, times, ...interruption }) => {
        const brain: Brain = (lines, instructions) =>
          instructions ? restaurant(lines, instructions) : { text: LONG.repeat(length).trim() }
        const world = await called({
          ...{ brain, times, script: [...script, { cue: { afterMs: 4_000 }, hangUp: true }] },
          plan: { interruption: { ...INTERRUPTION, greetingGuardMs: 500, ...interruption } },
        })
        for (const { answer, text } of world.model.answers)
          expect(world.heardMs(answer)).toBeLessThanOrEqual(audioMs(text))
        expect(replay(world.log.read()).difference).toBeNull()
        expect(world.transcript.map(({ seq }) => seq)).toEqual(world.transcript.map((_, index) => index + 1))
      }),
      { numRuns: 500 },
    )
  }, 240_000)
})
