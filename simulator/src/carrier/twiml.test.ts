import { describe, expect, it } from 'vitest'
import { parseTwiml } from './twiml.ts'
import { type Notification, TwimlError } from './verbs.ts'

function parse(body: string) {
  const warnings: Notification[] = []
  return { verbs: parseTwiml(`<Response>${body}</Response>`, (warning) => warnings.push(warning)), warnings }
}

describe('parseTwiml', () => {
  it('reads the document that opens a stream', () => {
    const { verbs, warnings } = parse(`<Connect><Stream url="wss://host/media-stream" name="vs_1">
      <Parameter name="stream_token" value="a&amp;b"/></Stream></Connect><Redirect>/resume</Redirect>`)
    expect(verbs).toMatchObject([
      { verb: 'stream', url: 'wss://host/media-stream', name: 'vs_1', parameters: [['stream_token', 'a&b']] },
      { verb: 'redirect', url: '/resume', method: 'POST' },
    ])
    expect(warnings).toEqual([])
  })

  it('reads what call flows need, with the usual values', () => {
    const { verbs } = parse(`<Say loop="2" language="de-DE">Hi</Say><Pause/><Dial timeout="9">+15550100</Dial>
      <Gather numDigits="1"><Say>Press 1</Say></Gather><Reject reason="busy"/><Hangup/>`)
    expect(verbs).toMatchObject([
      { verb: 'say', text: 'Hi', times: 2 },
      { verb: 'pause', lengthMs: 1000 },
      { verb: 'dial', numbers: [{ to: '+15550100' }], timeoutMs: 9000, action: '' },
      { verb: 'gather', mostDigits: 1, timeoutMs: 5000, finishOnKey: '#', prompts: [{ verb: 'say' }] },
      { verb: 'reject', reason: 'busy' },
      { verb: 'hangup' },
    ])
  })

  it('skips a verb that it does not know, and says so', () => {
    const { verbs, warnings } = parse('<Dance/><Hangup/>')
    expect(verbs).toEqual([{ verb: 'hangup' }])
    expect(warnings).toMatchObject([{ code: 12200 }])
  })

  it('drops a parameter of 500 letters, and takes one of 499', () => {
    const parameter = (letters: number) => `<Parameter name="n" value="${'x'.repeat(letters - 1)}"/>`
    const { verbs, warnings } = parse(
      `<Connect><Stream url="wss://host/">${parameter(500)}${parameter(499)}</Stream></Connect>`,
    )
    expect(verbs).toMatchObject([{ parameters: [['n', 'x'.repeat(498)]] }])
    expect(warnings).toHaveLength(1)
  })

  it.each([
    ['no XML', 'hello', 12100],
    ['another root', '<TwiML/>', 12100],
    ['a missing end', '<Response><Say>', 12100],
    ['a Connect without a stream', '<Response><Connect/></Response>', 12200],
    ['a Stream without an address', '<Response><Connect><Stream/></Connect></Response>', 12200],
    ['a Dial of nobody', '<Response><Dial/></Response>', 13225],
    ['64 KiB and a byte', `<Response>${' '.repeat(64 * 1024)}</Response>`, 11750],
  ])('refuses %s with its number', (_, source, code) => {
    expect(() => parseTwiml(source, () => {})).toThrow(TwimlError)
    expect(() => parseTwiml(source, () => {})).toThrow(expect.objectContaining({ code }))
  })
})
