import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mediaStreamsCodec as codec } from './codec.ts'

const PAYLOAD = Buffer.alloc(160, 0xd5).toString('base64')
const SID = 'MZ00000000000000000000000000000001'

const streamFirst = `{"event":"media","sequenceNumber":"4","streamSid":"${SID}","media":{"track":"inbound","chunk":"2","timestamp":"5","payload":"${PAYLOAD}"}}`
const streamLast = `{"event":"media","sequenceNumber":"4","media":{"track":"inbound","chunk":"2","timestamp":"5","payload":"${PAYLOAD}"},"streamSid":"${SID}"}`

/** What the slow way says about the same bytes. */
function slowPayload(frame: Buffer): string | null {
  const message = codec.read(frame)
  return message.type === 'media' ? message.payload.toString('latin1') : null
}

describe('mediaPayload', () => {
  it.each([streamFirst, streamLast])('takes a frame as the carrier spells it without parsing it', (frame) => {
    expect(codec.mediaPayload(Buffer.from(frame))?.toString('latin1')).toBe(PAYLOAD)
  })

  it.each([
    ['spaces', streamFirst.replace('":"', '": "')],
    ['another track', streamFirst.replace('inbound', 'outbound')],
    ['a quote in the payload', streamFirst.replace(PAYLOAD, `${PAYLOAD.slice(0, 8)}"${PAYLOAD.slice(9)}`)],
    ['half a group of base64', streamFirst.replace(PAYLOAD, PAYLOAD.slice(0, -1))],
    ['another event', streamFirst.replace('"media"', '"mark"')],
    ['more behind it', `${streamFirst}x`],
  ])('leaves %s to the slow way', (_what, frame) => {
    expect(codec.mediaPayload(Buffer.from(frame))).toBeNull()
  })

  it('agrees with JSON on 20,000 mutated frames: what it takes, the slow way takes too, with the same payload', () => {
    const mutation = fc.record({
      at: fc.nat(streamFirst.length),
      remove: fc.nat(3),
      insert: fc.oneof(
        fc.constantFrom('', '"', '\\', '{', '}', ',', ':', '=', ' ', '\\u0041', '"event":"stop",', '\0'),
        fc.string({ maxLength: 3 }),
      ),
    })
    let taken = 0
    fc.assert(
      fc.property(
        fc.constantFrom(streamFirst, streamLast),
        fc.array(mutation, { maxLength: 2 }),
        (original, mutations) => {
          const frame = Buffer.from(
            mutations.reduce(
              (text, { at, remove, insert }) => text.slice(0, at) + insert + text.slice(at + remove),
              original,
            ),
          )
          const payload = codec.mediaPayload(frame)
          if (payload === null) return
          taken++
          expect(payload.toString('latin1')).toBe(slowPayload(frame))
        },
      ),
      { numRuns: 20_000 },
    )
    expect(taken).toBeGreaterThan(1_000)
  })
})

describe('read', () => {
  const read = (message: unknown) => codec.read(Buffer.from(JSON.stringify(message)))

  it.each([
    [{ streamSid: 'my page', callSid: 'CA1' }, 'the streamSid of start must be 1 to 128 letters, digits, _, ., : or -'],
    [{ streamSid: SID, callSid: 'my call' }, 'the callSid of start must be 1 to 128 letters, digits, _, ., : or -'],
    [{ streamSid: SID }, 'the callSid of start must be 1 to 128 letters, digits, _, ., : or -'],
  ])('says which id of a start is none, and what it must be: %j', (start, reason) => {
    expect(read({ event: 'start', start })).toEqual({ type: 'malformed', reason, closeCode: 1008 })
  })

  it('reads a start with its parameters', () => {
    const start = {
      accountSid: 'AC1',
      streamSid: SID,
      callSid: 'CA1',
      tracks: ['inbound'],
      customParameters: { stream_token: 't', odd: 7 },
    }
    expect(read({ event: 'start', sequenceNumber: '1', streamSid: SID, start })).toEqual({
      type: 'start',
      streamSid: SID,
      callSid: 'CA1',
      accountSid: 'AC1',
      parameters: { stream_token: 't' },
    })
  })

  it('reads a start without parameters as one with none', () => {
    expect(read({ event: 'start', start: { streamSid: SID, callSid: 'CA1' } })).toMatchObject({ parameters: {} })
  })

  it.each([
    [{ event: 'connected', protocol: 'Call', version: '1.0.0' }, { type: 'connected' }],
    [
      { event: 'dtmf', dtmf: { track: 'inbound_track', digit: '#' } },
      { type: 'dtmf', digit: '#' },
    ],
    [
      { event: 'mark', mark: { name: 'm1' } },
      { type: 'mark', name: 'm1' },
    ],
    [{ event: 'stop', stop: { callSid: 'CA1' } }, { type: 'stop' }],
    [{ event: 'close' }, { type: 'unknown' }],
    [{ event: 'dtmf', dtmf: { digit: '12' } }, { type: 'unknown' }],
    [{ event: 'media', media: { track: 'outbound', payload: PAYLOAD } }, { type: 'unknown' }],
    [{}, { type: 'unknown' }],
  ])('reads %j', (message, expected) => {
    expect(read(message)).toEqual(expected)
  })

  it.each([
    ['no JSON', Buffer.from('hello'), 1003],
    ['no object', Buffer.from('[1]'), 1003],
    ['null', Buffer.from('null'), 1003],
    ['too large', Buffer.alloc(64 * 1024 + 1, 0x20), 1009],
    ['no ids in start', Buffer.from('{"event":"start","start":{"callSid":"CA1"}}'), 1008],
    [
      'an id that would break our frames',
      Buffer.from('{"event":"start","start":{"callSid":"CA1","streamSid":"a\\"b"}}'),
      1008,
    ],
    [
      'other audio',
      Buffer.from(
        `{"event":"start","start":{"callSid":"CA1","streamSid":"MZ1","mediaFormat":{"encoding":"audio/x-l16"}}}`,
      ),
      1008,
    ],
    ['no base64', Buffer.from('{"event":"media","media":{"payload":"a\\"b"}}'), 1008],
  ])('closes on %s', (_what, frame, closeCode) => {
    expect(codec.read(frame)).toMatchObject({ type: 'malformed', closeCode })
  })
})

describe('what is sent', () => {
  it('is a media frame around a payload, a mark, a clear, each with the stream that it is for', () => {
    const { head, tail } = codec.mediaFrame(SID)
    expect(JSON.parse(`${head}${PAYLOAD}${tail}`)).toEqual({
      event: 'media',
      streamSid: SID,
      media: { payload: PAYLOAD },
    })
    expect(JSON.parse(`${codec.mark(SID, 'm1')}`)).toEqual({ event: 'mark', streamSid: SID, mark: { name: 'm1' } })
    expect(JSON.parse(`${codec.clear(SID)}`)).toEqual({ event: 'clear', streamSid: SID })
  })
})
