import { describe, expect, it } from 'vitest'
import { MessageReader } from './message-reader.ts'
import { bytesOfFrame, cut, LIMITS, read } from './reading.fixture.ts'

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')
const KEY = 0x37fa213d
const frame = (first: number, payload: Buffer | string, mask: number | null = KEY) =>
  bytesOfFrame({ first, payload: Buffer.from(payload), mask })
const closing = (code: number, reason: Buffer | string = '') =>
  frame(0x88, Buffer.concat([Buffer.from([code >> 8, code & 0xff]), Buffer.from(reason)]))

describe('The examples of RFC 6455, 5.7, are read', () => {
  it.each([
    ['a text', 'unmasked', '81 05 48 65 6c 6c 6f', ['text Hello']],
    ['a masked text', 'masked', '81 85 37 fa 21 3d 7f 9f 4d 51 58', ['text Hello']],
    ['a text in two pieces', 'unmasked', '01 03 48 65 6c 80 02 6c 6f', ['text Hello']],
    ['a ping', 'unmasked', '89 05 48 65 6c 6c 6f', ['ping Hello']],
    ['a masked pong', 'masked', '8a 85 37 fa 21 3d 7f 9f 4d 51 58', ['pong']],
    ['256 bytes', 'unmasked', `82 7e 01 00${'00'.repeat(256)}`, [`binary ${'\0'.repeat(256)}`]],
    ['64 KiB', 'unmasked', `82 7f 00 00 00 00 00 01 00 00${'00'.repeat(65_536)}`, [`binary ${'\0'.repeat(65_536)}`]],
  ] as const)('%s', (_what, expects, bytes, lines) => {
    expect(read([hex(bytes)], { expects })).toEqual({ lines, fault: null })
    if (bytes.length < 100) expect(read(cut(hex(bytes), [1]), { expects })).toEqual({ lines, fault: null })
  })
})

describe('A reader', () => {
  it.each([
    ['a reserved bit', frame(0xc1, 'x'), 1002],
    ['an unknown kind of frame', frame(0x83, 'x'), 1002],
    ['an unknown kind of control frame', frame(0x8b, 'x'), 1002],
    ['a frame without a mask', frame(0x81, 'x', null), 1002],
    ['a ping in pieces', frame(0x09, 'x'), 1002],
    ['a ping of 126 bytes', frame(0x89, Buffer.alloc(126)), 1002],
    ['a continuation of nothing', frame(0x80, 'x'), 1002],
    ['a message inside another', Buffer.concat([frame(0x01, 'x'), frame(0x81, 'x')]), 1002],
    ['a length whose first bit is set', hex('82 ff 80 00 00 00 00 00 00 00'), 1002],
    ['half a close code', frame(0x88, 'x'), 1002],
    ['a close code that is never sent', closing(1005), 1002],
    ['a close code below all', closing(999), 1002],
    ['a close code above all', closing(5000), 1002],
    ['a text that is not UTF-8', frame(0x81, Buffer.from([0xc3])), 1007],
    ['a text whose pieces are not UTF-8', Buffer.concat([frame(0x01, Buffer.from([0xc3])), frame(0x80, 'x')]), 1007],
    ['a reason that is not UTF-8', closing(1000, Buffer.from([0xff])), 1007],
    ['too many pieces', Buffer.concat([frame(0x01, ''), ...Array.from({ length: 64 }, () => frame(0x00, ''))]), 1008],
    ['a message that is too large', frame(0x82, Buffer.alloc(65_537)), 1009],
    ['pieces that are too large', Buffer.concat([frame(0x02, 'x'), frame(0x80, Buffer.alloc(65_536))]), 1009],
    ['a length beyond all numbers', hex('82 ff 7f ff ff ff ff ff ff ff'), 1009],
  ])('refuses %s, in one piece or byte by byte, and reads nothing after it', (_what, bytes, fault) => {
    const all = Buffer.concat([bytes, frame(0x81, 'after it')])
    expect(read([all])).toEqual({ lines: [], fault })
    expect(read(cut(all, [1]))).toEqual({ lines: [], fault })
  })

  it('refuses a frame with a mask where none may be', () => {
    expect(read([frame(0x81, 'x')], { expects: 'unmasked' }).fault).toBe(1002)
  })

  it('refuses what is too large by its header alone', () => {
    expect(read([hex('81 fe ff ff')], { limits: { maxMessageBytes: 65_534 } }).fault).toBe(1009)
    expect(read([hex('81 ff 00 00 00 00 00 01 00 01')]).fault).toBe(1009)
  })

  it('takes a character that is cut between two pieces, and control frames between them', () => {
    const bytes = [
      frame(0x01, Buffer.from([0xc3])),
      frame(0x89, 'p'),
      frame(0x8a, ''),
      frame(0x80, Buffer.from([0xa4])),
    ]
    expect(read([Buffer.concat(bytes)])).toEqual({ lines: ['ping p', 'pong', 'text \xc3\xa4'], fault: null })
  })

  it.each([
    ['a code', closing(3000, 'why'), 'close 3000 why'],
    ['no code', frame(0x88, ''), 'close 1005 '],
  ])('reads nothing behind a goodbye with %s', (_what, bytes, line) => {
    expect(read([Buffer.concat([bytes, frame(0x81, 'x')]), frame(0x81, 'y')])).toEqual({ lines: [line], fault: null })
  })

  it('reads no further once it is stopped, in the middle of a chunk too', () => {
    const heard: string[] = []
    const reader = new MessageReader('masked', LIMITS, {
      message(bytes) {
        heard.push(bytes.toString())
        reader.stop()
      },
      ping: () => {},
      pong: () => {},
      close: () => {},
    })
    reader.read(Buffer.concat([frame(0x81, 'one'), frame(0x81, 'two')]))
    reader.read(frame(0x81, 'three'))
    expect(heard).toEqual(['one'])
  })

  it('hands out bytes that nothing writes to later', () => {
    const kept: Buffer[] = []
    const reader = new MessageReader('masked', LIMITS, {
      message: (bytes) => void kept.push(bytes),
      ping: () => {},
      pong: () => {},
      close: () => {},
    })
    for (const text of ['whole', 'other']) reader.read(frame(0x81, text))
    for (const text of ['cut up', 'again'])
      for (const chunk of cut(frame(0x81, text), [3])) reader.read(Buffer.from(chunk))
    for (const piece of [frame(0x01, 'pie'), frame(0x80, 'ces')]) reader.read(piece)
    expect(kept.map(String)).toEqual(['whole', 'other', 'cut up', 'again', 'pieces'])
  })

  it('keeps of what was announced only what has come', () => {
    const limits = { ...LIMITS, maxMessageBytes: 2 ** 30 }
    const readers = Array.from({ length: 100 }, () => {
      const reader = new MessageReader('masked', limits, {
        message: () => {},
        ping: () => {},
        pong: () => {},
        close: () => {},
      })
      reader.read(hex('82 ff 00 00 00 00 40 00 00 00 01 02 03 04 ff'))
      return reader
    })
    expect(readers).toHaveLength(100)
    expect(process.memoryUsage().arrayBuffers).toBeLessThan(2 ** 29)
  })

  it('reads 4 MiB byte by byte in a time that grows with the bytes, not with their square', () => {
    const limits = { maxMessageBytes: 4 * 1024 * 1024 }
    const bytes = frame(0x82, Buffer.alloc(4 * 1024 * 1024, 7))
    let received = 0
    const reader = new MessageReader(
      'masked',
      { ...LIMITS, ...limits },
      {
        message: (message) => {
          received = message.length
        },
        ping: () => {},
        pong: () => {},
        close: () => {},
      },
    )
    for (let at = 0; at < bytes.length; at++) reader.read(bytes.subarray(at, at + 1))
    expect(received).toBe(4 * 1024 * 1024)
  })
})
