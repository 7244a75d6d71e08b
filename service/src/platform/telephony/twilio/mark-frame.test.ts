import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { echoedName, markFrame } from './mark-frame.ts'

const ECHO = '{"event":"mark","sequenceNumber":"6","streamSid":"MZ1","mark":{"name":"end-item_1"}}'
const SID_LAST = '{"event":"mark","sequenceNumber":"6","mark":{"name":"end-item_1"},"streamSid":"MZ1"}'

describe('echoedName', () => {
  it.each([ECHO, SID_LAST])('takes the name out of %s', (text) => {
    expect(echoedName(Buffer.from(text))).toBe('end-item_1')
  })

  it.each([
    ['another event', ECHO.replace('"mark"', '"mars"')],
    ['a name that JSON escapes', ECHO.replace('item_1', 'item\\"1')],
    ['a name of other letters', ECHO.replace('item_1', '2·item')],
    ['spaces', ECHO.replaceAll(':', ': ')],
    ['an end too early', ECHO.slice(0, -1)],
    ['something behind it', `${ECHO} `],
    ['a long one', ECHO.replace('item_1', 'i'.repeat(600))],
  ])('leaves %s to JSON', (_what, text) => {
    expect(echoedName(Buffer.from(text))).toBeNull()
  })

  it('agrees with JSON on whatever it takes', () => {
    const at = fc.nat(ECHO.length - 1)
    fc.assert(
      fc.property(fc.array(fc.tuple(at, fc.nat(255)), { maxLength: 3 }), (changes) => {
        const frame = Buffer.from(ECHO)
        for (const [index, byte] of changes) frame[index] = byte
        const name = echoedName(frame)
        if (name !== null) expect(JSON.parse(frame.toString())).toMatchObject({ event: 'mark', mark: { name } })
      }),
      { numRuns: 20_000 },
    )
  })
})

describe('markFrame', () => {
  it.each(['m1', 'end-resp_1', '2·item_1', 'a "quoted" name'])('asks for an echo of %j', (name) => {
    const frame = markFrame('MZ1', name)
    expect(JSON.parse(frame.toString())).toEqual({ event: 'mark', streamSid: 'MZ1', mark: { name } })
  })
})
