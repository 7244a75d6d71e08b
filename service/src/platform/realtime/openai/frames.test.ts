import { describe, expect, it } from 'vitest'
import { appendFrame, eventType } from './frames.ts'

describe('appendFrame', () => {
  it('is a client event around the base64 that it was given', () => {
    const payload = Buffer.alloc(160, 0xd5).toString('base64')
    expect(JSON.parse(appendFrame(Buffer.from(payload)).toString('utf8'))).toEqual({
      type: 'input_audio_buffer.append',
      audio: payload,
    })
  })
})

describe('eventType', () => {
  it.each([
    ['{"type":"response.done","response":{}}', 'response.done'],
    ['{"type": "response.done", "response": {}}', 'response.done'],
    ['{"event_id":"event_1","type":"response.done"}', null],
    ['{"type":"response\\u002edone"}', null],
    ['{"type":7}', null],
    ['{"type":"response.done', null],
    ['{"type":', null],
    ['', null],
  ])('of %s is %s', (text, type) => {
    expect(eventType(Buffer.from(text))).toBe(type)
  })
})
