import { describe, expect, it } from 'vitest'
import { base64Bytes, FRAME_BYTES } from './audio.ts'
import { MediaFrame } from './media-frame.ts'
import { blankStamp, KIND, readStamp } from './stamp.ts'

describe('MediaFrame', () => {
  it('is the carrier`s message for every frame, as its numbers grow', () => {
    const frame = new MediaFrame('MZ1')
    for (let chunk = 1; chunk <= 1_200; chunk++) {
      const stamp = { call: 3, sequence: chunk - 1, kind: KIND.callerFrame, sentUs: 20_000 * chunk }
      const { media, ...message } = JSON.parse(frame.fill(chunk + 1, chunk, stamp).toString())
      expect(message).toEqual({ event: 'media', sequenceNumber: String(chunk + 1), streamSid: 'MZ1' })
      expect(media).toMatchObject({ track: 'inbound', chunk: String(chunk), timestamp: String(20 * (chunk - 1)) })
      const read = blankStamp()
      expect(readStamp(Buffer.from(media.payload), 0, read)).toBe(true)
      expect(read).toEqual(stamp)
    }
  })

  it('carries 20 ms of audio', () => {
    const text = new MediaFrame('MZ1').fill(2, 1, { ...blankStamp(), kind: KIND.callerFrame })
    const payload = Buffer.from(JSON.parse(text.toString()).media.payload)
    expect(payload).toHaveLength(216)
    expect(base64Bytes(payload, 0, payload.length)).toBe(FRAME_BYTES)
  })
})
