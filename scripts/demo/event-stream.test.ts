import { describe, expect, it } from 'vitest'
import { readEvents, type ServerEvent } from './event-stream.ts'

async function eventsIn(...pieces: Uint8Array[]): Promise<ServerEvent[]> {
  const events: ServerEvent[] = []
  for await (const event of readEvents(ReadableStream.from(pieces))) events.push(event)
  return events
}

const TEXT =
  'retry: 1000\n\nid: 1\nevent: state\ndata: {"state":"waiting"}\n\n: alive\n\nid: 2\nevent: turn\ndata: {"text":"Grüß dich"}\n\n'
const EVENTS = [
  { event: 'state', data: { state: 'waiting' } },
  { event: 'turn', data: { text: 'Grüß dich' } },
]

describe('a stream of server-sent events', () => {
  it('gives the events, without comments and settings', async () => {
    expect(await eventsIn(Buffer.from(TEXT))).toEqual(EVENTS)
  })

  it('gives the same however it is cut into pieces, also inside of a character', async () => {
    const bytes = Buffer.from(TEXT)
    const pieces = Array.from(bytes, (_byte, i) => bytes.subarray(i, i + 1))
    expect(await eventsIn(...pieces)).toEqual(EVENTS)
  })
})
