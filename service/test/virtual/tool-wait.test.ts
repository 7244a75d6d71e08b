import { describe, expect, it } from 'vitest'
import { replay } from '../../src/voice/event-log/replay.ts'
import type { Act } from './caller.ts'
import type { Sent } from './carrier.ts'
import { faultsOfAudio, faultsOfEnd, faultsOfHeard } from './cut-check.ts'
import { World, type WorldOptions } from './world.ts'

const TOOL_MS = 58_000
/** Two and a half seconds, and the way to the carrier. */
const LONGEST_MS = 2_700
const SCRIPT: readonly Act[] = [
  { cue: { afterSilenceMs: 700 }, say: 'Yes, book it please.', forMs: 1_400 },
  { cue: { afterMs: 80_000 }, hangUp: true },
]

/** What the caller hears, as stretches of time: a `clear` ends what is being played. */
function heardOf(sent: readonly Sent[]): { fromMs: number; untilMs: number }[] {
  const stretches: { fromMs: number; untilMs: number }[] = []
  for (const one of sent) {
    if (one.type === 'clear') for (const each of stretches) each.untilMs = Math.min(each.untilMs, one.atMs)
    if (one.type !== 'media' && one.type !== 'sound') continue
    const fromMs = Math.max(one.atMs, stretches.at(-1)?.untilMs ?? 0)
    stretches.push({ fromMs, untilMs: fromMs + one.ms })
  }
  return stretches
}

/** The longest silence on the agent's side, from the words behind which it calls the tool to the answer. */
function longestSilenceMs({ carrier, model }: World): number {
  const atMs = (words: string) => {
    const answer = model.answers.find(({ text }) => text.startsWith(words))?.answer
    return carrier.heard.find((one) => one.answer === answer)?.startMs ?? Number.NaN
  }
  const [sinceMs, untilMs] = [atMs('I will see to that'), atMs('Your table is booked')]
  const stretches = heardOf(carrier.sent).filter(({ fromMs }) => fromMs >= sinceMs && fromMs <= untilMs)
  const gaps = stretches.map(({ fromMs }, at) => fromMs - (stretches[at - 1]?.untilMs ?? fromMs))
  return Math.round(Math.max(...gaps))
}

describe('A tool that takes a minute', () => {
  it.each<[string, WorldOptions['plan'], WorldOptions['times']]>([
    ['an agent that words it', {}, {}],
    ['one whose model is slow at that', {}, { firstAudioMs: 3_200 }],
    ['one with something to hear on hold', { holdsForTools: true, holdMs: 3_000 }, {}],
  ])('leaves no caller in silence, and its answer is heard: %s', async (_what, plan, times = {}) => {
    const world = new World({
      script: SCRIPT,
      plan: { greeting: 'Welcome.', ...plan },
      times,
      toolMs: { book_table: TOOL_MS },
    })
    world.begin()
    await world.run(180_000)
    expect([...faultsOfEnd(world), ...faultsOfAudio(world), ...faultsOfHeard(world)]).toEqual([])
    expect(world.model.offences).toEqual([])
    expect(world.transcript.map(({ text }) => text).join()).toContain('Your table is booked')
    expect(longestSilenceMs(world)).toBeLessThanOrEqual(LONGEST_MS)
    expect(replay(world.log.read()).difference).toBeNull()
  })
})
