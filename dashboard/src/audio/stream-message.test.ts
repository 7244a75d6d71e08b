import { describe, expect, it } from 'vitest'
import { readMessage, StreamWriter } from './stream-message.ts'

describe('readMessage', () => {
  it.each([
    [
      { event: 'media', media: { payload: 'AP8=' } },
      { event: 'media', track: 'outbound', audio: Uint8Array.of(0, 255) },
    ],
    [
      { event: 'media', media: { track: 'inbound', payload: '/w==' } },
      { event: 'media', track: 'inbound', audio: Uint8Array.of(255) },
    ],
    [
      { event: 'mark', mark: { name: 'm1' } },
      { event: 'mark', name: 'm1' },
    ],
    [{ event: 'clear', streamSid: 'MZ1' }, { event: 'clear' }],
    [{ event: 'connected' }, null],
    [{ event: 'media' }, null],
    [{ event: 'mark', mark: {} }, null],
  ])('reads %j', (message, read) => {
    expect(readMessage(JSON.stringify(message))).toEqual(read)
  })
})

describe('StreamWriter', () => {
  it('writes audio as the service knows it by its bytes', () => {
    const writer = new StreamWriter('MZ1')
    writer.start('CA1')
    expect(writer.media(Uint8Array.of(0, 255), 40)).toBe(
      '{"event":"media","sequenceNumber":"2","streamSid":"MZ1","media":{"track":"inbound","chunk":"1","timestamp":"40","payload":"AP8="}}',
    )
  })

  it('begins as a carrier does', () => {
    const [connected, start] = new StreamWriter('MZ1').start('CA1').map((text) => JSON.parse(text) as object)
    expect(connected).toMatchObject({ event: 'connected' })
    expect(start).toMatchObject({ event: 'start', streamSid: 'MZ1', start: { streamSid: 'MZ1', callSid: 'CA1' } })
  })

  it('numbers what it writes, and pieces of audio by themselves', () => {
    const writer = new StreamWriter('MZ1')
    const written = [writer.dtmf('5'), writer.mark('m1'), writer.media(Uint8Array.of(1), 0), writer.stop()]
    const read = written.map((text) => JSON.parse(text) as { sequenceNumber: string; media?: { chunk: string } })
    expect(read.map(({ sequenceNumber }) => sequenceNumber)).toEqual(['1', '2', '3', '4'])
    expect(read[2]?.media?.chunk).toBe('1')
  })
})
