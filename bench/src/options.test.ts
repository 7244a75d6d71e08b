import { describe, expect, it } from 'vitest'
import { parseOptions } from './options.ts'

describe('parseOptions', () => {
  it('measures 100 to 400 calls in three rounds when nothing is asked for', () => {
    expect(parseOptions([])).toMatchObject({
      calls: [100, 200, 300, 400],
      repeats: 3,
      relayOnly: false,
      churnPerSecond: 0,
    })
  })

  it.each([
    ['--calls', '10,x'],
    ['--calls', ''],
    ['--seconds', '0'],
    ['--repeats', '1.5'],
    ['--churn', '-1'],
    ['--what', '1'],
  ])('refuses %s %j and says which', (name, value) => {
    expect(() => parseOptions([`${name}=${value}`])).toThrow(name)
  })
})
