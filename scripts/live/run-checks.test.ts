import { describe, expect, it } from 'vitest'
import { readConfig } from '../../service/src/config.ts'
import type { Check, Subject } from './check.ts'
import { Trouble } from './faults.ts'
import { outcomeText, summaryText } from './outcome-text.ts'
import { type Outcome, runChecks } from './run-checks.ts'

const SUBJECT: Subject = {
  config: readConfig({}),
  publicUrl: 'https://voice.example.com',
  phoneNumber: null,
  model: null,
  voice: null,
}
const NEVER = new Promise<never>(() => {})
const fine = async () => ({ state: 'ok' as const, found: 'Fine.' })

const check = (name: string, more: Partial<Check> = {}): Check => ({
  name,
  needs: [],
  limitMs: 5_000,
  run: fine,
  ...more,
})

async function outcomesOf(checks: Check[], totalMs = 10_000): Promise<Outcome[]> {
  const told: Outcome[] = []
  const outcomes = await runChecks(checks, SUBJECT, { totalMs, tell: (outcome) => told.push(outcome) })
  expect(told).toEqual(outcomes)
  return outcomes
}

describe('runChecks', () => {
  it('tells outcomes in the order of the list, whichever is done first', async () => {
    const release = Promise.withResolvers<void>()
    const first = check('first', { run: () => release.promise.then(fine) })
    const second = check('second', { run: () => fine().finally(release.resolve) })
    expect((await outcomesOf([first, second])).map(({ name }) => name)).toEqual(['first', 'second'])
  })

  it('fails a check that throws, with what it says to do', async () => {
    const run = () => Promise.reject(new Trouble('It is broken.', 'Mend it.'))
    expect(await outcomesOf([check('a', { run })])).toEqual([
      { name: 'a', state: 'FAIL', found: 'It is broken.', todo: 'Mend it.' },
    ])
  })

  it('skips what needs a failed or a skipped check, and does not run it', async () => {
    const run = () => Promise.reject(new Trouble('It is broken.', 'Mend it.'))
    const mustNot = () => Promise.reject(new Error('it ran'))
    const outcomes = await outcomesOf([
      check('a', { run }),
      check('b', { needs: ['a'], run: mustNot }),
      check('c', { needs: ['b'], run: mustNot }),
    ])
    expect(outcomes.map(({ state, found }) => [state, found])).toEqual([
      ['FAIL', 'It is broken.'],
      ['skipped', 'It needs "a".'],
      ['skipped', 'It needs "b".'],
    ])
  })

  it('refuses a list in which a check stands before what it needs', async () => {
    await expect(outcomesOf([check('a', { needs: ['b'] }), check('b')])).rejects.toThrow('does not come before it')
  })

  it('fails a check that outlasts its own limit, heeding the signal or not', async () => {
    const heeding: Check['run'] = (_subject, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('gave up')))
      })
    const outcomes = await outcomesOf([
      check('deaf', { limitMs: 20, run: () => NEVER }),
      check('heeding', { limitMs: 20, run: heeding }),
    ])
    expect(outcomes.map(({ state }) => state)).toEqual(['FAIL', 'FAIL'])
    expect(outcomes[0]?.found).toBe('No answer came in time.')
  })

  it('fails what is not done when the whole time is up, within its own limit or not', async () => {
    const outcomes = await outcomesOf([check('slow', { run: () => NEVER }), check('quick')], 20)
    expect(outcomes.map(({ state }) => state)).toEqual(['FAIL', 'ok'])
  })
})

describe('outcomeText', () => {
  it('puts each thing to do on a line of its own', () => {
    expect(outcomeText({ name: 'number', state: 'FAIL', found: 'Wrong.', todo: 'This.\nThat.' })).toBe(
      `FAIL     number            Wrong.\n${' '.repeat(27)}→ This.\n${' '.repeat(27)}→ That.`,
    )
    expect(outcomeText({ name: 'number', state: 'ok', found: 'Fine.', todo: null })).toBe(
      'ok       number            Fine.',
    )
  })

  it('sums up', () => {
    const outcome = (state: Outcome['state']): Outcome => ({ name: '', state, found: '', todo: null })
    expect(summaryText([outcome('ok'), outcome('ok'), outcome('skipped')], 1_240)).toBe(
      '2 ok, 0 failed, 1 skipped in 1.2 s',
    )
  })
})
