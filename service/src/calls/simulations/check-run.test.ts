import { describe, expect, it } from 'vitest'
import { growth } from '../../../test/harness/growth.ts'
import type { Expectations } from '../../records/simulations/scenario.ts'
import { checkRun } from './check-run.ts'

/** What is wrong with a run in which the agent has said this. */
function faults(said: string, expected: Expectations): string[] {
  const turn = { role: 'agent' as const, text: said, replyMs: null }
  return checkRun(expected, { turns: [turn], calls: [], endedBy: 'agent' })
}

describe('A phrase that is expected of an agent', () => {
  it.each([
    ['Table 7, please. It’s yours!', ['table 7', 'its yours']],
    ['明日の予約をお受けしました。', ['予約', 'お受けしました']],
    ['จองโต๊ะสองที่แล้วครับ', ['จองโต๊ะ', 'แล้วครับ']],
    ['Un café, s’il vous plaît.', ['cafe\u0301', 'plaît']],
  ])('is heard in any writing: %s', (said, heard) => {
    expect(faults(said, { heard })).toEqual([])
    expect(faults(said, { not_heard: heard })).toEqual(heard.map((phrase) => `"${phrase}" was heard.`))
  })

  it.each([
    ['The table is tabled.', 'tab'],
    ['कमला यहाँ है।', 'कमल'],
    ['明日の予約です', '約予'],
  ])('is not heard in other words: %s', (said, phrase) => {
    expect(faults(said, { heard: [phrase] })).toEqual([`"${phrase}" was not heard.`])
    expect(faults(said, { not_heard: [phrase] })).toEqual([])
  })

  it('costs little, however many there are', () => {
    const said = '明日の予約をお受けしました。'.repeat(1_000)
    const look = (phrases: number) => {
      const not_heard = Array.from({ length: phrases }, (_, n) => `電話番号${n}`)
      expect(faults(said, { not_heard })).toEqual([])
    }
    look(48)
    expect(growth(look, 48)).toBeLessThan(2.5)
  })
})
