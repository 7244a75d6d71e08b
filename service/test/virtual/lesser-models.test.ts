import { describe, expect, it } from 'vitest'
import { planWith } from '../../src/voice/session/call.fixture.ts'
import { faultsOfAudio, faultsOfEnd, faultsOfHeard } from './cut-check.ts'
import { GOLDEN_CALL } from './golden-call.ts'
import { World } from './world.ts'

const { capabilities: ALL } = planWith()

describe('A model that cannot', () => {
  it.each([
    ['cut an item where it was heard', { truncation: false }],
    ['write down what callers say', { callerTranscripts: false }],
    ['answer in text', { textOutput: false }],
    ['speak µ-law itself', { nativeMulaw: false }],
  ])('%s has the same call, without what it cannot', async (_what, lacking) => {
    const world = new World({ ...GOLDEN_CALL, plan: { ...GOLDEN_CALL.plan, capabilities: { ...ALL, ...lacking } } })
    world.begin()
    await world.run(240_000)
    expect([...faultsOfEnd(world), ...faultsOfAudio(world), ...faultsOfHeard(world)]).toEqual([])
    expect([world.ends, world.toolRuns.map(({ name }) => name)]).toEqual([['agent_hangup'], ['book_table', 'end_call']])
    const cuts = world.model.sessions.flatMap(({ commands }) => commands).filter(({ type }) => type === 'truncate')
    expect(cuts).toHaveLength('truncation' in lacking ? 0 : 2)
    expect(world.transcript.filter(({ interrupted }) => interrupted)).toHaveLength(2)
  })
})
