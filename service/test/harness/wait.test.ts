import { describe, expect, it } from 'vitest'
import { until } from './wait.ts'

describe('until', () => {
  it('resolves with the first value of the condition that is something', async () => {
    const values = [undefined, null, false, 0, 1]
    expect(await until(async () => values.shift(), { what: 'a value' })).toBe(0)
  })

  it('says what it waited for when it gives up', async () => {
    await expect(until(() => false, { timeoutMs: 20, what: 'the moon' })).rejects.toThrow(
      'still waiting for the moon after 20 ms',
    )
  })

  it('throws at once what the condition throws', async () => {
    const broken = () => {
      throw new Error('broken')
    }
    await expect(until(broken, { what: 'nothing' })).rejects.toThrow('broken')
  })
})
