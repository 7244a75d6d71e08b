import { describe, expect, it } from 'vitest'
import { type Answered, isMachine, isReached, joinAnswered } from './answered-by.ts'

const NOTHING: Answered = { answered_by: null, answered_by_source: null }
const by = (answered_by: string, answered_by_source: Answered['answered_by_source'] = 'carrier') => ({
  answered_by,
  answered_by_source,
})
const inBothOrders = (one: Answered, other: Answered) => [joinAnswered(one, other), joinAnswered(other, one)]

describe('Who answered, by what the carrier and we have told', () => {
  it('is what the only one says', () => {
    expect(inBothOrders(NOTHING, by('human'))).toEqual([by('human'), by('human')])
  })

  it.each([
    ['words stand over the carrier', by('screening', 'words'), by('machine_start')],
    ['a tone stands over the carrier', by('fax', 'tone'), by('human')],
    ['the carrier stands over how long somebody spoke', by('machine_start'), by('human', 'cadence')],
    ['words stand over how long somebody spoke', by('machine_start', 'words'), by('human', 'cadence')],
    ['the end of a greeting stands over its beginning', by('machine_end_beep'), by('machine_start', 'words')],
    ['anything stands over what nobody knows', by('human', 'cadence'), by('unknown')],
  ])('%s, whichever comes first', (_, surer, other) => {
    expect(inBothOrders(surer, other)).toEqual([surer, surer])
  })

  it('is the later of two that are as sure', () => {
    expect(joinAnswered(by('machine_start', 'words'), by('machine_end_beep', 'tone'))).toEqual(
      by('machine_end_beep', 'tone'),
    )
    expect(joinAnswered(by('human'), by('machine_start'))).toEqual(by('machine_start'))
    expect(joinAnswered({ answered_by: 'human', answered_by_source: null }, by('machine_start'))).toEqual(
      by('machine_start'),
    )
  })

  it('was a person where it is no machine, and no assistant that put nobody through', () => {
    const words = ['human', 'unknown', 'ivr', null, 'screening', 'machine_start', 'fax']
    expect(words.filter(isReached)).toEqual(['human', 'unknown', 'ivr', null])
    expect(words.filter(isMachine)).toEqual(['machine_start', 'fax'])
  })
})
