import { describe, expect, it, vi } from 'vitest'

const HOUR_MS = 3_600_000
/** In New York clocks go from EDT to EST two hours later. */
const MIDNIGHT_MS = Date.parse('2026-11-01T04:00:00Z')

describe('the hours of a chart', () => {
  it('are told apart where one of them is there twice', async () => {
    vi.stubEnv('TZ', 'America/New_York')
    try {
      const { spanText } = await import('./span-text.ts')
      const edges = [0, 1, 2, 3, 4].map((hours) => MIDNIGHT_MS + hours * HOUR_MS)
      const texts = [0, 1, 2, 3].map((at) => spanText({ edges }, at))
      expect(texts).toEqual([
        expect.not.stringMatching(/E[DS]T/),
        expect.stringMatching(/EDT|GMT-4/),
        expect.stringMatching(/EST|GMT-5/),
        expect.not.stringMatching(/E[DS]T/),
      ])
    } finally {
      vi.unstubAllEnvs()
    }
  })
})
