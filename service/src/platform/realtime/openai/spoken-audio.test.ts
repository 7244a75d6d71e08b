import { describe, expect, it } from 'vitest'
import { SpokenAudio } from './spoken-audio.ts'

describe('SpokenAudio', () => {
  it('counts each answer apart, once', () => {
    const spoken = new SpokenAudio()
    spoken.add('a', 4_000)
    spoken.add('b', 800)
    spoken.add('a', 4_000)
    expect([spoken.takeSeconds('a'), spoken.takeSeconds('b'), spoken.takeSeconds('a')]).toEqual([1, 0.1, 0])
  })

  it('forgets answers whose end never came', () => {
    const spoken = new SpokenAudio()
    for (let i = 0; i < 17; i++) spoken.add(`answer ${i}`, 8_000)
    expect([spoken.takeSeconds('answer 0'), spoken.takeSeconds('answer 1')]).toEqual([0, 1])
  })
})
