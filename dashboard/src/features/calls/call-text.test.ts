import { describe, expect, it } from 'vitest'
import { howEnded } from './call-text.ts'

describe('how a call ended', () => {
  it.each([
    ['outbound', 'canceled', 'rejected', 'It was cancelled before anybody answered'],
    ['outbound', 'no-answer', 'rejected', 'Nobody answered'],
    ['outbound', 'failed', 'rejected', 'It was refused'],
    ['inbound', 'busy', 'rejected', 'It was refused'],
    ['outbound', 'completed', 'voicemail', 'A voicemail had answered'],
  ])('is, of one that is %s and %s, by %s: %s', (direction, status, reason, text) =>
    expect(howEnded({ direction, status }, reason)).toBe(text),
  )
})
