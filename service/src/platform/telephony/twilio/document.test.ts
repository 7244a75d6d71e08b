import { describe, expect, it } from 'vitest'
import type { CallVerb } from '../port.ts'
import { twiml } from './document.ts'

const HEAD = '<?xml version="1.0" encoding="UTF-8"?><Response>'

function written(...verbs: CallVerb[]): string {
  return twiml(verbs).slice(HEAD.length, -'</Response>'.length)
}

describe('twiml', () => {
  it('connects a stream with its parameters, and says what comes after it', () => {
    const text = written(
      {
        type: 'connect_stream',
        url: 'wss://voice.example.com/media-stream',
        parameters: { stream_token: 'a.b.c' },
        statusCallback: 'https://voice.example.com/api/v1/call-status',
      },
      { type: 'redirect', url: 'https://voice.example.com/api/v1/call-resume#rc=3&rp=all' },
    )
    expect(text).toBe(
      '<Connect><Stream url="wss://voice.example.com/media-stream" statusCallback="https://voice.example.com/api/v1/call-status" statusCallbackMethod="POST">' +
        '<Parameter name="stream_token" value="a.b.c"/></Stream></Connect>' +
        '<Redirect method="POST">https://voice.example.com/api/v1/call-resume#rc=3&amp;rp=all</Redirect>',
    )
  })

  it('says, waits, dials, turns away and hangs up', () => {
    const text = written(
      { type: 'say', text: 'Goodbye.' },
      { type: 'pause', seconds: 2 },
      { type: 'dial', number: '+12025550102', callerId: '+12025550100', timeoutSeconds: 30, maxSeconds: 60 },
      { type: 'reject' },
      { type: 'hangup' },
    )
    expect(text).toBe(
      '<Say>Goodbye.</Say><Pause length="2"/><Dial timeout="30" timeLimit="60" callerId="+12025550100"><Number>+12025550102</Number></Dial>' +
        '<Reject reason="busy"/><Hangup/>',
    )
  })

  it('says a sentence in its language, by the name that the carrier has for it, or in the carrier’s own where it has none', () => {
    const said = (language: string) => written({ type: 'say', text: 'Hej!', language })
    expect(said('sv')).toBe('<Say language="sv-SE">Hej!</Say>')
    const names = ['de', 'DE-at', 'pt-br', 'pt', 'no', 'en-GB', 'uk', 'cs', 'tr', 'xx', '', '"><Hangup/>'].map(
      (language) => {
        return /^<Say(?: language="([^"]*)")?>Hej!<\/Say>$/.exec(said(language))?.[1]
      },
    )
    expect(names).toEqual([...['de-DE', 'de-DE', 'pt-BR', 'pt-PT', 'nb-NO', 'en-GB', ...Array(6).fill(undefined)]])
    const spelled = ['deu', 'nob', 'por-BR', 'pt-Latn-BR', 'en-Latn-GB', 'ces'].map(said)
    expect(spelled.map((text) => /language="([^"]*)"/.exec(text)?.[1])).toEqual([
      ...['de-DE', 'nb-NO', 'pt-BR', 'pt-BR', 'en-GB', undefined],
    ])
    const sorry = { type: 'say', text: 'Mrzí nás to.', english: 'We are sorry.' } as const
    expect(written({ ...sorry, language: 'cs' })).toBe('<Say>We are sorry.</Say>')
    expect(written({ ...sorry, language: 'de' })).toBe('<Say language="de-DE">Mrzí nás to.</Say>')
  })

  it('rings somebody in the place of a stream, asks for a key, and joins a room', () => {
    const dial = { type: 'dial' as const, number: '+12025550102', callerId: null, timeoutSeconds: 30 }
    const text = written(
      { ...dial, action: 'https://x.example/next?a=1&b=2', answered: 'https://x.example/told' },
      { type: 'ask_key', text: 'Press 1.', timeoutSeconds: 10, url: 'https://x.example/keys' },
      {
        type: 'ask_key',
        text: 'Drücken.',
        language: 'de',
        english: 'Press.',
        timeoutSeconds: 5,
        url: 'https://x.example/k',
      },
      { type: 'conference', room: 'r1', action: 'https://x.example/next' },
      { type: 'conference', room: 'r1' },
    )
    expect(text).toBe(
      '<Dial timeout="30" action="https://x.example/next?a=1&amp;b=2" method="POST"><Number statusCallback="https://x.example/told" ' +
        'statusCallbackMethod="POST" statusCallbackEvent="answered">+12025550102</Number></Dial>' +
        '<Gather input="dtmf" numDigits="1" timeout="10" action="https://x.example/keys" method="POST"><Say>Press 1.</Say></Gather>' +
        '<Gather input="dtmf" numDigits="1" timeout="5" action="https://x.example/k" method="POST"><Say language="de-DE">Drücken.</Say></Gather>' +
        '<Dial action="https://x.example/next" method="POST"><Conference beep="false" endConferenceOnExit="true">r1</Conference></Dial>' +
        '<Dial><Conference beep="false" endConferenceOnExit="true">r1</Conference></Dial>',
    )
  })

  const HOSTILE = [
    '"><Dial>+12025550199</Dial>',
    "'/><Hangup/>",
    '</Say><Redirect>https://evil.example.com</Redirect>',
    '<![CDATA[<Hangup/>]]>',
    '<!-- --><?xml?><!DOCTYPE x>',
    '&lt;Hangup/&gt; &#60;Hangup/&#62;',
    ']]>',
  ]

  it.each(HOSTILE)('lets no text become an instruction: %s', (text) => {
    const document = written(
      { type: 'say', text },
      { type: 'dial', number: text, callerId: text, timeoutSeconds: 5, action: text, answered: text },
      { type: 'ask_key', text, timeoutSeconds: 5, url: text },
      { type: 'conference', room: text, action: text },
      { type: 'redirect', url: text },
      { type: 'connect_stream', url: text, parameters: { [text]: text }, statusCallback: text },
    )
    const tags = [...document.matchAll(/<\/?([A-Za-z]+)/g)].map(([, name]) => name)
    expect(tags).toEqual([
      ...['Say', 'Say', 'Dial', 'Number', 'Number', 'Dial', 'Gather', 'Say', 'Say', 'Gather'],
      ...['Dial', 'Conference', 'Conference', 'Dial', 'Redirect', 'Redirect'],
      ...['Connect', 'Stream', 'Parameter', 'Stream', 'Connect'],
    ])
    expect(document).not.toMatch(/<[!?]/)
    expect(unescaped(/<Say>(.*?)<\/Say>/s.exec(document)?.[1] ?? '')).toBe(text)
  })

  it('leaves out what XML cannot hold, and keeps every other character', () => {
    const text = 'a\u0000\u0008\u001f\ud800b\ufffe é 日本 😀\t\n'
    expect(written({ type: 'say', text })).toBe('<Say>ab é 日本 😀\t\n</Say>')
  })

  it('refuses a parameter that the carrier would drop without a word', () => {
    const verb = (value: string): CallVerb => {
      return { type: 'connect_stream', url: 'wss://x', parameters: { token: value }, statusCallback: null }
    }
    expect(() => twiml([verb('x'.repeat(494))])).not.toThrow()
    expect(() => twiml([verb('x'.repeat(495))])).toThrow(RangeError)
  })
})

function unescaped(text: string): string {
  const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
  return text.replace(/&(\w+);/g, (_whole, name: string) => entities[name] ?? '')
}
