import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { replay } from '../../src/voice/event-log/replay.ts'
import { INTERRUPTION } from '../../src/voice/session/call.fixture.ts'
import { type Ahead, type Brain, restaurant } from './brain.ts'
import type { Act } from './caller.ts'
import { faultsOfAudio, faultsOfEnd, faultsOfHeard } from './cut-check.ts'
import { World } from './world.ts'

const LONG = 'This is what there is to say of it, and it takes its time. '

/** Answers at any length, now and then with a tool, or with words said ahead of what it thinks about. */
function brainOf(lengths: readonly number[], thinking: Ahead): Brain {
  let turn = 0
  return (lines, instructions) => {
    if (instructions) return restaurant(lines, instructions)
    const length = lengths[turn++ % lengths.length] ?? 1
    const ahead = length % 2 === 0 ? { ahead: thinking } : {}
    return { text: LONG.repeat(length).trim(), ...(length >= 3 ? { tool: 'look_up' } : {}), ...ahead }
  }
}

const cues = fc.oneof(
  fc.integer({ min: 100, max: 2_000 }).map((afterSilenceMs) => ({ afterSilenceMs })),
  fc.integer({ min: 20, max: 4_000 }).map((intoSpeechMs) => ({ intoSpeechMs })),
  fc.integer({ min: 0, max: 3_000 }).map((afterMs) => ({ afterMs })),
)

const acts: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .record({ cue: cues, forMs: fc.integer({ min: 150, max: 2_500 }) })
      .map((act) => ({ ...act, say: 'And then?' })),
  },
  { weight: 1, arbitrary: fc.record({ cue: cues, cough: fc.integer({ min: 40, max: 220 }) }) },
  { weight: 1, arbitrary: fc.record({ cue: cues, press: fc.constantFrom('1', '12#', '#') }) },
)

/**
 * For so long that it is known by then that the words ahead were heard, for a line without gaps tells that only to the quickest way there and
 * back; and, with the first audio behind it, for less than a model that has stalled is silent.
 */
const thoughts: fc.Arbitrary<Ahead> = fc
  .record({ thinkMs: fc.integer({ min: 1_200, max: 3_500 }), isNamed: fc.boolean() })
  .map((thought) => ({ ...thought, text: 'Let me see.' }))
/** So short that what follows is in line before the words ahead of it were heard. */
const inLine: fc.Arbitrary<Ahead> = fc.boolean().map((isNamed) => ({ thinkMs: 0, isNamed, text: LONG.trim() }))

const calls = fc.record({
  script: fc.array(acts, { minLength: 1, maxLength: 6 }),
  lengths: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 4 }),
  carrierDelayMs: fc.nat(75),
  toolMs: fc.nat(4_000),
  thinking: fc.oneof(thoughts, inLine),
  minSpeechMs: fc.constantFrom(0, 300, 600),
  times: fc.record({
    oneWayMs: fc.integer({ min: 1, max: 80 }),
    onsetMs: fc.constantFrom(60, 100, 200, 300),
    firstAudioMs: fc.integer({ min: 50, max: 2_000 }),
    deltaEveryMs: fc.integer({ min: 5, max: 150 }),
    transcriptMs: fc.array(fc.nat(3_000), { minLength: 1, maxLength: 3 }),
  }),
})

describe('Any call', () => {
  it('asks one thing at a time, says nothing that was silenced, knows what was heard, ends with nothing left, and can be run again', async () => {
    await fc.assert(
      fc.asyncProperty(calls, async ({ script, lengths, thinking, toolMs, minSpeechMs, ...rest }) => {
        const world = new World({
          ...rest,
          brain: brainOf(lengths, thinking),
          toolMs: { look_up: toolMs },
          script: [...script, { cue: { afterMs: 4_000 }, hangUp: true }],
          plan: { interruption: { ...INTERRUPTION, minSpeechMs, greetingGuardMs: 500, resumeFalseMs: 0 } },
        })
        world.begin()
        await world.run(240_000)
        expect(world.model.offences).toEqual([])
        expect([...faultsOfEnd(world), ...faultsOfAudio(world), ...faultsOfHeard(world)]).toEqual([])
        expect(world.transcript.map(({ seq }) => seq)).toEqual(world.transcript.map((_, index) => index + 1))
        expect(isInOrder(world)).toBe(true)
        expect(replay(world.log.read()).difference).toBeNull()
      }),
      { numRuns: 1_000 },
    )
  }, 240_000)
})

/** The model's answers are recorded in the order in which it gave them, and the caller's turns in theirs. */
function isInOrder({ transcript, model }: World): boolean {
  const answers = transcript.flatMap(({ itemId, role }) =>
    role === 'agent' ? [model.answers.findIndex((one) => one.itemId === itemId)] : [],
  )
  const turns = transcript.flatMap(({ itemId, role }) => (role === 'caller' ? [Number(itemId.split('_')[1])] : []))
  return [answers, turns].every((places) => places.every((place, index) => place > (places[index - 1] ?? -1)))
}
