import { describe, expect, it } from 'vitest'
import { tone } from '../audio/tone.ts'
import { connectStream } from './bridge.fixture.ts'
import { answeringMachine, type CallerScript, type CallerStep, listener, saying } from './caller-script.ts'
import { ACCOUNT, eventually, SILENT, startPair } from './carrier.fixture.ts'
import type { FaultOptions } from './faults.ts'
import { sign } from './signature.ts'

const TO = '+14155550123'
const ALL = ['initiated', 'ringing', 'answered', 'completed'].map((event): [string, string] => [
  'StatusCallbackEvent',
  event,
])

/** So long after what was done before, where it is the first thing said. */
const later =
  (delayMs: number) =>
  (step: CallerStep, at: number): CallerStep =>
    at === 0 ? { ...step, when: { kind: 'then', delayMs } } : step

async function dial({
  callee = SILENT,
  faults,
  more = [],
  events = ALL,
}: {
  callee?: CallerScript
  faults?: FaultOptions
  more?: [string, string][]
  events?: [string, string][]
} = {}) {
  const pair = await startPair({ callsPerSecond: 100, ...(faults ? { faults } : {}) })
  pair.carrier.subscribe(TO, callee)
  pair.bridge.answer('/voice', '<Response><Pause length="1"/></Response>')
  await pair.rest('/Calls.json', [
    ['To', TO],
    ['From', '+14155550199'],
    ['Url', `${pair.bridge.url}/voice`],
    ['StatusCallback', `${pair.bridge.url}/status`],
    ...events,
    ...more.map(([name, value]): [string, string] => [name, value.replace('BRIDGE', pair.bridge.url)]),
  ])
  const call = pair.carrier.calls[0]
  if (!call) throw new Error('no call was made')
  const told = () => pair.bridge.formsOf('/status').map((form) => form.get('CallStatus'))
  return { ...pair, call, told }
}

describe('status callbacks', () => {
  it('tell each state that was asked for, signed, numbered, with what belongs to it', async () => {
    const { call, bridge } = await dial()
    await call.settled
    const seen = bridge.forms.filter(({ path }) => path === '/status')
    const byNumber = seen.sort((a, b) => Number(a.form.get('SequenceNumber')) - Number(b.form.get('SequenceNumber')))
    expect(byNumber.map(({ form }) => [form.get('SequenceNumber'), form.get('CallStatus')])).toEqual([
      ['0', 'initiated'],
      ['1', 'ringing'],
      ['2', 'in-progress'],
      ['3', 'completed'],
    ])
    for (const { form, signature } of seen) {
      expect(signature).toBe(sign(ACCOUNT.authToken, `${bridge.url}/status`, [...form]))
      expect(form.get('CallSid')).toBe(call.sid)
      expect(form.get('CallbackSource')).toBe('call-progress-events')
      expect(form.get('Timestamp')).toMatch(/^\w{3}, \d\d \w{3} \d{4} [\d:]{8} \+0000$/)
    }
    const last = byNumber[3]?.form
    expect([last?.get('Duration'), last?.get('SipResponseCode')]).toEqual(['1', '200'])
    // From the answer on, with what the document took to come.
    const atMs = (status: string) =>
      call.events.find((event) => event.kind === 'status' && event.status === status)?.atMs ?? 0
    const lastedMs = atMs('completed') - atMs('in-progress')
    expect(lastedMs).toBeGreaterThanOrEqual(1000)
    expect(Math.abs(Number(last?.get('CallDuration')) * 1000 - lastedMs)).toBeLessThan(600)
    expect(byNumber[0]?.form.has('CallDuration')).toBe(false)
  })

  it.each([
    ['busy', 'busy'],
    ['failed', 'failed'],
    ['no-answer', 'no-answer'],
  ] as const)('tell that a party was %s', async (whenRung, status) => {
    const { call, told } = await dial({ callee: { whenRung, steps: [] }, more: [['Timeout', '2']] })
    expect(await call.ended).toMatchObject({ status, by: 'not-answered' })
    await call.settled
    expect(told()).toContain(status)
    expect(told()).not.toContain('in-progress')
  })

  it('come five times each (F24)', async () => {
    const { call, told } = await dial({ faults: { callbacks: { copies: 5 } } })
    await call.settled
    expect(told().filter((status) => status === 'ringing')).toHaveLength(5)
    expect(told()).toHaveLength(20)
  })

  it('come in reverse (F25), or with the end first (F26)', async () => {
    const reversed = await dial({ faults: { callbacks: { order: 'reversed' } } })
    await reversed.call.settled
    expect(reversed.told()).toEqual(['completed', 'in-progress', 'ringing', 'initiated'])
    const early = await dial({ faults: { callbacks: { order: 'completed-first' } } })
    await early.call.settled
    expect(early.told()).toEqual(['completed', 'initiated', 'ringing', 'in-progress'])
  })

  it('that are held back come at the end though nobody asked for the end itself', async () => {
    const { call, told } = await dial({ faults: { callbacks: { order: 'reversed' } }, events: ALL.slice(0, 2) })
    await call.settled
    expect(told()).toEqual(['ringing', 'initiated'])
  })

  it('never come (F27)', async () => {
    const { call, told } = await dial({ faults: { callbacks: { delivery: 'never' } } })
    await call.settled
    expect(told()).toEqual([])
  })

  it('come late, by the carrier’s clock (F28)', async () => {
    const { call, told, clock } = await dial({ faults: { callbacks: { delayMs: 8000 } } })
    await call.ended
    const endedMs = clock.nowMs()
    expect(told()).toEqual([])
    await call.settled
    expect(told()).toHaveLength(4)
    expect(clock.nowMs() - endedMs).toBeGreaterThan(7900)
  })

  it('come with a forged signature, or with none (F29)', async () => {
    const { call, bridge } = await dial({ faults: { callbacks: { signature: 'forged' } } })
    await call.settled
    for (const { form, path, signature } of bridge.forms) {
      expect(signature).not.toBe(sign(ACCOUNT.authToken, `${bridge.url}${path}`, [...form]))
      expect(signature).not.toBe('')
    }
  })

  it('are a warning when they are refused', async () => {
    const { call, bridge } = await dial()
    bridge.answer('/status', () => ({ status: 403 }))
    await call.settled
    expect(call.notifications.map(({ code }) => code)).toContain(11200)
  })
})

describe('detection of answering machines', () => {
  const beep = tone([1000], 500, 6000)
  const detect = (mode: string, more: [string, string][] = []): [string, string][] => [
    ['MachineDetection', mode],
    ...more,
  ]
  const asynchronous: [string, string][] = [
    ['AsyncAmd', 'true'],
    ['AsyncAmdStatusCallback', 'BRIDGE/amd'],
  ]
  const machine = answeringMachine('You have reached nobody. Leave a message after the tone.', beep)
  const beepless = answeringMachine('You have reached nobody. Leave a message.', null)
  const breathing: CallerScript = {
    ...machine,
    steps: [saying('You have reached nobody.'), ...machine.steps.map(later(900))],
  }

  it.each([
    ['a person', listener('Hello?'), 'Enable', 'human'],
    ['a machine', machine, 'Enable', 'machine_start'],
    ['a machine to its beep', machine, 'DetectMessageEnd', 'machine_end_beep'],
    [
      'a machine without a beep to the silence behind its greeting',
      beepless,
      'DetectMessageEnd',
      'machine_end_silence',
    ],
    ['a machine that says nothing at all', answeringMachine('', null), 'DetectMessageEnd', 'machine_end_silence'],
    ['a machine that takes a breath to its beep', breathing, 'DetectMessageEnd', 'machine_end_beep'],
    ['a person who may be a machine', listener('Hello?'), 'DetectMessageEnd', 'human'],
    ['silence', SILENT, 'Enable', 'unknown'],
  ])('waits for %s before it asks what to do', async (_, callee, mode, answeredBy) => {
    const { call, bridge } = await dial({ callee, more: detect(mode) })
    await eventually(() => bridge.formsOf('/voice').length === 1)
    expect(bridge.formsOf('/voice')[0]?.get('AnsweredBy')).toBe(answeredBy)
    await call.settled
    expect(
      bridge
        .formsOf('/status')
        .find((form) => form.get('CallStatus') === 'completed')
        ?.get('AnsweredBy'),
    ).toBe(answeredBy)
  })

  it('tells later, without holding the call up, when asked to', async () => {
    const { bridge, call } = await dial({ callee: listener('Hello?'), more: detect('Enable', asynchronous) })
    bridge.answer('/voice', '<Response><Pause length="10"/></Response>')
    await eventually(() => bridge.formsOf('/voice').length === 1)
    expect(bridge.formsOf('/voice')[0]?.has('AnsweredBy')).toBe(false)
    await eventually(() => bridge.formsOf('/amd').length === 1)
    expect(Object.fromEntries(bridge.formsOf('/amd')[0] ?? [])).toEqual({
      CallSid: call.sid,
      AccountSid: ACCOUNT.accountSid,
      AnsweredBy: 'human',
      MachineDetectionDuration: expect.stringMatching(/^\d{4}$/),
    })
  })

  it('is off when keys are sent', async () => {
    const { bridge } = await dial({ callee: listener('Hello?'), more: detect('Enable', [['SendDigits', 'w12#']]) })
    await eventually(() => bridge.formsOf('/voice').length === 1)
    expect(bridge.formsOf('/voice')[0]?.has('AnsweredBy')).toBe(false)
  })
})

describe('stream callbacks', () => {
  it('tell that a stream started and stopped', async () => {
    const { bridge, ring } = await startPair()
    const callback = `statusCallback="${bridge.url}/stream" name="s1"`
    bridge.answer('/voice', connectStream(bridge).replace('<Stream', `<Stream ${callback}`))
    const call = ring()
    await eventually(() => bridge.formsOf('/stream').length === 1)
    call.hangUp()
    await call.settled
    expect(bridge.formsOf('/stream').map((form) => Object.fromEntries(form))).toMatchObject([
      { StreamEvent: 'stream-started', StreamName: 's1', CallSid: call.sid, AccountSid: ACCOUNT.accountSid },
      { StreamEvent: 'stream-stopped', StreamSid: expect.stringMatching(/^MZ/) },
    ])
  })

  it('tell that a stream could not be opened, and the next verb runs', async () => {
    const { bridge, ring } = await startPair({ refuseStreams: true })
    const callback = `statusCallback="${bridge.url}/stream"`
    const document = connectStream(bridge, { after: '<Redirect>/resume</Redirect>' })
    bridge.answer('/voice', document.replace('<Stream', `<Stream ${callback}`))
    const call = ring()
    await call.settled
    expect(call.notifications).toMatchObject([{ code: 31920 }])
    expect(bridge.formsOf('/stream')[0]?.get('StreamEvent')).toBe('stream-error')
    expect(bridge.formsOf('/resume')).toHaveLength(1)
  })
})
