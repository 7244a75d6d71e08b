import { describe, expect, it } from 'vitest'
import { systemClock } from '../../kernel/clock.ts'
import { makePatternReasons } from './pattern-reasons.ts'

const said = (text: string) => ({
  ...{ turns: [{ role: 'agent' as const, text, replyMs: null }], calls: [] },
  endedBy: 'caller' as const,
})
const endless = { not_matches: ['^(a+)+$'] }
const trap = said(`${'a'.repeat(60)}!`)

describe('makePatternReasons', () => {
  it('looks no second time for what took too long in the same scenario', async () => {
    const reasons = makePatternReasons(systemClock)
    expect(await reasons('x 0', endless, trap)).toEqual(['To look for ^(a+)+$ took too long: make it simpler.'])
    expect(await reasons('x 0', endless, said('Hello.'))).toEqual([expect.stringMatching(/in another run/)])
    expect(await reasons('x 0', {}, trap)).toEqual([expect.stringMatching(/in another run/)])
  })

  it('looks in another scenario as ever', async () => {
    const reasons = makePatternReasons(systemClock)
    await reasons('x 0', endless, trap)
    const taken = { turns: [], calls: [], endedBy: 'caller' as const }
    expect(await reasons('x 1', { matches: ['a'] }, taken)).toEqual(['No turn of the agent matches a.'])
  })
})
