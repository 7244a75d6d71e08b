import { describe, expect, it } from 'vitest'
import { APPEND_HEAD, APPEND_TAIL, eventType } from './frames.ts'

describe('The frame of the caller’s audio', () => {
  it('is a client event around the base64 that it is given', () => {
    const payload = Buffer.alloc(160, 0xd5).toString('base64')
    expect(JSON.parse(Buffer.concat([APPEND_HEAD, Buffer.from(payload), APPEND_TAIL]).toString('utf8'))).toEqual({
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
