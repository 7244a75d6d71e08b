import { describe, expect, it } from 'vitest'
import { parseKillOptions } from './options.ts'

describe('the options of the kill', () => {
  it('are 100 calls, once with each behaviour of the carrier', () => {
    const usual = { calls: 100, runs: 1, seed: 1, afterLoss: ['next-verb', 'silence'], isRealtime: false, help: false }
    expect(parseKillOptions([])).toEqual(usual)
  })

  it('can be told', () => {
    const args = ['--calls', '10', '--runs', '2', '--seed', '7', '--after-loss', 'silence']
    expect(parseKillOptions(args)).toEqual({
      calls: 10,
      runs: 2,
      seed: 7,
      afterLoss: ['silence'],
      isRealtime: false,
      help: false,
    })
  })

  it.each([[['--calls', '0']], [['--runs', 'two']], [['--after-loss', 'never']]])('refuse %j', (args) => {
    expect(() => parseKillOptions(args)).toThrow(args[0])
  })
})
