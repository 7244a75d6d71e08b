import { describe, expect, it } from 'vitest'
import { Call } from './call.fixture.ts'

const WORDS = 'Please call us back at 555 0100 before noon.'
const GO_ON = `Go on from there, without repeating it. Say the rest of it exactly as it stands here: ${WORDS}`

const asked = (call: Call) => call.commands('respond').at(-1)?.instructions

/** The first of them are said, and more are to come. */
function halfSaid(call: Call, responseId = 'resp_1'): void {
  call.begins(responseId)
  call.words(responseId, `item of ${responseId}`, 'Please call')
  call.audio(responseId, `item of ${responseId}`, 800)
  call.wait(800)
  call.echoAll()
}

function lose(call: Call): void {
  call.model({ type: 'closed', code: '1006', message: 'gone', fault: 'retry' })
  call.model({ type: 'ready' })
}

describe('Words that are to be exact', () => {
  it.each<[string, (call: Call) => void]>([
    ['of a supervisor', (call) => call.do({ type: 'say', text: WORDS })],
    ['for a mailbox', (call) => call.do({ type: 'machine' })],
    ['for a caller who is silent', (call) => call.wait(10_000)],
  ])('are known to a session that has to go on with them, and to the one after it: those %s', (_what, begin) => {
    const idle = { afterMs: 30_000, prompts: [WORDS], goodbye: '' }
    const call = Call.greeted({ voicemail: WORDS, idle })
    begin(call)
    halfSaid(call)
    lose(call)
    expect(asked(call)).toContain(GO_ON)
    call.begins('resp_2')
    call.audio('resp_2', 'item_2', 500)
    lose(call)
    expect(asked(call)).toContain(GO_ON)
  })

  it.each<[string, (call: Call) => void]>([
    ['fails', (call) => call.ends('resp_1', { status: 'failed' })],
    ['stalls', (call) => call.wait(6_000)],
  ])(
    'are told again to the session whose answer %s in the middle: it was told them for that one alone',
    (_how, stop) => {
      const call = Call.greeted()
      call.do({ type: 'say', text: WORDS })
      halfSaid(call)
      stop(call)
      call.ends('resp_1', { status: 'cancelled' })
      expect(asked(call)).toContain(GO_ON)
    },
  )

  it('are gone on with by who is sorry where the line was away in them', () => {
    const call = new Call({ greeting: WORDS })
    call.model({ type: 'ready' })
    halfSaid(call)
    call.audio('resp_1', 'item of resp_1', 800)
    call.do({ type: 'stream_lost' })
    call.ends('resp_1', { status: 'cancelled' })
    call.wait(3_000)
    call.do({ type: 'attached' })
    expect(asked(call)).toMatch(
      /^The line was cut off .* Say the rest of it exactly as it stands here: Please call us back/,
    )
  })

  it('are not gone on with where their provider keeps them back', () => {
    const call = Call.greeted()
    call.do({ type: 'say', text: WORDS })
    for (const responseId of ['resp_1', 'resp_2']) {
      call.begins(responseId)
      call.ends(responseId, { status: 'failed', errorCode: 'content_filter' })
    }
    expect(asked(call)).toContain('cannot help with that')
    halfSaid(call, 'resp_3')
    lose(call)
    expect(asked(call)).not.toContain(WORDS)
  })
})
