import { describe, expect, it } from 'vitest'
import { KeyDetector } from '../../simulator/src/audio/key-detector.ts'
import { keyTones } from '../src/voice/key-tones.ts'

describe('the tones of keys', () => {
  it('are heard as these keys by whoever listens for them', () => {
    const keys = '0123456789*#ABCDw11'
    const audio = Buffer.from(keyTones(keys).toString(), 'base64')
    const detector = new KeyDetector()
    let heard = ''
    for (let at = 0; at + 160 <= audio.length; at += 160) heard += detector.hear(audio.subarray(at, at + 160)) ?? ''
    expect(heard).toBe(keys.replace('w', ''))
  })
})
