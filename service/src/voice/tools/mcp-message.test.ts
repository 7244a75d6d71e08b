import { describe, expect, it } from 'vitest'
import { answerIn, watchFor } from './mcp-message.ts'

const ANSWER = JSON.stringify({ jsonrpc: '2.0', id: 7, result: { text: 'Grüße' } })
const OTHER = JSON.stringify({ jsonrpc: '2.0', id: 6, result: {} })

/** In which of the pieces the answer is there; -1: in none. */
function foundIn(pieces: Buffer[]): number {
  const isThere = watchFor(7)
  return pieces.findIndex((piece) => isThere(piece))
}

const bytesOf = (text: string) => [...Buffer.from(text)].map((byte) => Buffer.from([byte]))

describe('the answer in a stream of events', () => {
  it.each(['\n', '\r\n'])('is seen with the last byte of its event, in whatever pieces it comes: %j', (line) => {
    const before = `: a comment${line}${line}data: ${OTHER}${line}${line}`
    const event = `event: message${line}data: ${ANSWER}${line}${line}`
    const pieces = bytesOf(before + event)
    expect(foundIn(pieces)).toBe(pieces.length - 1)
    expect(foundIn([Buffer.from(before), Buffer.from(`${event}data: more`)])).toBe(1)
    expect(foundIn([Buffer.from(before + event.slice(0, -line.length)), Buffer.from(line)])).toBe(1)
  })

  it('may be written in several lines of data, and is not in an event that has not ended', () => {
    const lines = `data: {"id": 7,\ndata: "result": {}}\n`
    expect(foundIn([Buffer.from(lines)])).toBe(-1)
    expect(foundIn([Buffer.from(lines), Buffer.from('\n')])).toBe(1)
  })

  it('is looked for in 1,000 events and in no more, however small they are', () => {
    const others = (count: number) => Buffer.from('data:x\n\n'.repeat(count))
    const answer = Buffer.from(`data: ${ANSWER}\n\n`)
    const answered = (body: Buffer) => {
      const headers = { 'content-type': 'text/event-stream' }
      return answerIn({ status: 200, headers, body, isWhole: true, isTooLong: false }, 7)
    }
    expect(foundIn([others(999), answer])).toBe(1)
    expect(answered(Buffer.concat([others(999), answer]))).toEqual({ result: { text: 'Grüße' } })
    expect(foundIn([others(1_000), answer])).toBe(0)
    expect(() => answered(Buffer.concat([others(1_000), answer]))).toThrow('not known whether it was done')
  })
})
