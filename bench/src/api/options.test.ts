import { describe, expect, it } from 'vitest'
import { parseApiOptions } from './options.ts'
import { FULL, QUICK } from './plan.ts'

describe('the options of npm run bench:api', () => {
  it('ask for everything in full when there are none', () => {
    expect(parseApiOptions([])).toMatchObject({
      plan: FULL,
      parts: ['lists', 'filters', 'rings', 'outbox'],
      check: false,
    })
  })

  it('ask for a quick look at some of it, with rows of its own', () => {
    const options = parseApiOptions(['--quick', '--check', '--only=outbox,lists', '--rows=20000'])
    expect(options).toMatchObject({ plan: { ...QUICK, rows: 20_000 }, parts: ['outbox', 'lists'], check: true })
  })

  it.each([
    ['--rows=100', '--rows 100: not a whole number from 20000'],
    ['--rows=many', '--rows many: not a whole number from 20000'],
    ['--only=calls', '--only calls: there are lists, filters, rings, outbox, analytics'],
    ['--calls=5', '--calls 5: not a whole number from 20000'],
  ])('%s makes no sense, and the message says why', (argument, message) => {
    expect(() => parseApiOptions([argument])).toThrow(message)
  })

  it.each([['--quick'], ['--only=lists'], ['--rows=20000']])('%s writes no documentation', (argument) => {
    expect(() => parseApiOptions(['--write-docs', argument])).toThrow('--write-docs: only of a full run')
  })
})
