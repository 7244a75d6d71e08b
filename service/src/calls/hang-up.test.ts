import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { passing } from '../../test/harness/passing.ts'
import { until } from '../../test/harness/wait.ts'
import type { TenantId } from '../kernel/ids.ts'
import { makeCarriers } from '../platform/telephony/registry.ts'
import { toRuntime } from '../tenancy/tenant-defaults.ts'
import { makeHangingUp } from './hang-up.ts'

const ACCOUNT = { account_sid: 'AC1', auth_token: 'token', from_number: null }
const TENANT = toRuntime({ tenant_id: 'acme' as TenantId }, ACCOUNT)
const PENNILESS = toRuntime(
  { tenant_id: 'acme' as TenantId },
  { account_sid: null, auth_token: null, from_number: null },
)

/** A carrier that answers with these statuses, one after the other, and never any more after them. */
async function carrierOf(...statuses: number[]) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      asked.push(new URLSearchParams(Buffer.concat(chunks).toString()).toString())
      const status = statuses.shift()
      if (status !== undefined)
        response.writeHead(status).end(JSON.stringify({ code: status === 404 ? 20404 : status }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const clock = new TestClock()
  const logged: string[] = []
  const tell = (_fields: unknown, message?: string) => void logged.push(message ?? '')
  const carriers = makeCarriers({ apiBaseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
  const ended: string[] = []
  const noteEnded = async (_tenantId: TenantId, callSid: string) => void ended.push(callSid)
  const calls = makeHangingUp({ carriers, clock, log: { warn: tell, error: tell }, noteEnded })
  /** Lets time pass until everything is over. */
  const over = async () => {
    let isOver = false
    void calls.allAnswered().then(() => {
      isOver = true
    })
    await passing(clock, () => isOver, { what: 'the end of the requests', stepMs: 100 })
  }
  return { asked, clock, calls, logged, ended, over }
}

describe('ending a call at its carrier', () => {
  it.each([
    ['is done once where it is taken', 200],
    ['F21: is done once where it is over already', 404],
  ])('%s', async (_what, status) => {
    const { asked, calls, over, logged, ended } = await carrierOf(status)
    const outcome = calls.hangUp(TENANT, 'CA1', async () => true)
    await over()
    expect([asked, logged]).toEqual([['Status=completed'], []])
    expect([await outcome, ended]).toEqual(['ended', ['CA1']])
  })

  it('says nothing of how one ended that may only have rung: its carrier does', async () => {
    const { asked, calls, over, ended } = await carrierOf(200)
    const outcome = calls.hangUp(TENANT, 'CA1')
    await over()
    expect([asked, await outcome, ended]).toEqual([['Status=completed'], 'ended', []])
  })

  it('is tried three times while the carrier is in trouble', async () => {
    const { asked, calls, over, logged } = await carrierOf(500, 429, 200)
    void calls.hangUp(TENANT, 'CA1')
    await over()
    expect([asked.length, logged]).toEqual([3, []])
  })

  it('is given up after the third, the log says so, and nobody is told that it is over', async () => {
    const { asked, calls, over, logged, ended } = await carrierOf(500, 500, 500, 200)
    const outcome = calls.hangUp(TENANT, 'CA1')
    await over()
    expect([asked.length, logged]).toEqual([3, ['the carrier did not take a request']])
    expect([await outcome, ended]).toEqual(['failed', []])
  })

  it('is tried three times, too, where nothing listens at its address', async () => {
    const clock = new TestClock()
    const { twilio } = makeCarriers({ apiBaseUrl: 'http://127.0.0.1:2' })
    let tries = 0
    const endCall: typeof twilio.endCall = (...asked) => {
      tries += 1
      return twilio.endCall(...asked)
    }
    const log = { warn: () => {}, error: () => {} }
    const carriers = { twilio: { ...twilio, endCall } }
    const calls = makeHangingUp({ carriers, clock, log, noteEnded: async () => {} })
    void calls.hangUp(TENANT, 'CA1')
    await passing(clock, () => tries === 3, { what: 'the third try', stepMs: 100 })
    await calls.allAnswered()
  })

  it('is not tried again where trying cannot help', async () => {
    const { asked, calls, over, logged } = await carrierOf(401, 200)
    void calls.hangUp(TENANT, 'CA1')
    await over()
    expect([asked.length, logged]).toEqual([1, ['the carrier did not take a request']])
  })

  it('does not wait longer than five seconds for an answer', async () => {
    const { asked, clock, calls, over } = await carrierOf()
    void calls.hangUp(TENANT, 'CA1')
    await until(() => asked.length === 1, { what: 'the request' })
    await clock.advance(4_999)
    expect(asked).toHaveLength(1)
    await passing(clock, () => asked.length === 3, { what: 'the third try', stepMs: 100 })
    await clock.advance(5_000)
    await over()
    expect(clock.pendingTimers).toBe(0)
  })

  it('holds nobody up who waits for the answer to another call', async () => {
    const { asked, calls, over } = await carrierOf()
    void calls.hangUp(TENANT, 'CA1')
    await until(() => asked.length === 1, { what: 'the request' })
    let isAnswered = false
    void calls.answered(TENANT, 'CA1').then(() => {
      isAnswered = true
    })
    await calls.answered(TENANT, 'CA2')
    expect(isAnswered).toBe(false)
    await over()
    await until(() => isAnswered, { what: 'the end of the request' })
  })

  it.each([
    ['that does not answer', []],
    ['that is in trouble', [500, 500, 500]],
  ])('holds the stop up for a second at most, with a carrier %s', async (_what, statuses) => {
    const { asked, clock, calls } = await carrierOf(...statuses)
    void calls.hangUp(TENANT, 'CA1')
    await until(() => asked.length === 1, { what: 'the request' })
    let isOver = false
    void calls.close().then(() => {
      isOver = true
    })
    await clock.advance(1_000)
    await until(() => isOver, { what: 'the end of the requests' })
    expect(clock.pendingTimers).toBe(0)
  })

  it.each(['its end', 'an apology'])(
    'is not tried again once another node has sent the call elsewhere: %s',
    async (what) => {
      const { asked, calls, over, logged } = await carrierOf(500, 200)
      let isOurs = true
      const isHeld = async () => isOurs
      if (what === 'its end') void calls.hangUp(TENANT, 'CA1', isHeld)
      else calls.apologise(TENANT, 'CA1', { text: 'Sorry.', number: '+12025550150' }, isHeld)
      await until(() => asked.length === 1, { what: 'the request' })
      isOurs = false
      await over()
      expect([asked.length, logged]).toEqual([1, ['a call was left to the stream that has taken it']])
    },
  )

  it('of a tenant without an account is not possible: it is taken to be over, and the log says so', async () => {
    const { asked, calls, over, logged, ended } = await carrierOf(200)
    const outcome = calls.hangUp(PENNILESS, 'CA1', async () => true)
    await over()
    expect([asked, logged.length, await outcome, ended]).toEqual([[], 1, 'no_account', ['CA1']])
  })

  it('of a tenant without an account is left to whom it is by now', async () => {
    const { calls, over, ended } = await carrierOf(200)
    const outcome = calls.hangUp(PENNILESS, 'CA1', async () => false)
    await over()
    expect([await outcome, ended]).toEqual(['left', []])
  })
})

describe('an apology', () => {
  const WORDS = { text: 'Sorry.', number: '+12025550150' }

  it.each([
    ['while the carrier is asked for it', []],
    ['before it is asked again', [500]],
  ])('is asked for no more once the carrier was answered what comes next, %s', async (_when, statuses: number[]) => {
    const { asked, clock, calls, over, logged } = await carrierOf(...statuses)
    calls.apologise(TENANT, 'CA1', WORDS)
    calls.apologise(TENANT, 'CA2', WORDS)
    await until(() => asked.length === 2, { what: 'the requests' })
    calls.dropApology(TENANT, 'CA1')
    await calls.answered(TENANT, 'CA1')
    expect([asked.length, logged]).toEqual([2, []])
    // That of the other call goes on.
    await passing(clock, () => asked.length === 4, { what: 'the third try of the other', stepMs: 100 })
    await over()
  })

  it('that is not wanted any more takes no request with it that ends a call', async () => {
    const { asked, calls, over } = await carrierOf(500, 200)
    void calls.hangUp(TENANT, 'CA1')
    calls.dropApology(TENANT, 'CA1')
    await over()
    expect(asked).toHaveLength(2)
  })

  it('is said by the carrier, which then connects the number', async () => {
    const { asked, calls, over, ended } = await carrierOf(200)
    calls.apologise(TENANT, 'CA1', { text: 'Sorry.', number: '+12025550150' })
    await over()
    // The call goes on with that.
    expect(ended).toEqual([])
    const form = new URLSearchParams(asked[0])
    expect(form.get('Twiml')).toContain(
      '<Say>Sorry.</Say><Dial timeout="30" timeLimit="14400"><Number>+12025550150</Number></Dial>',
    )
    // Whoever is connected there may talk for longer than the agent might have.
    expect(form.get('TimeLimit')).toBe('14400')
  })

  it('connects it in the name of a number that can be shown', async () => {
    const { asked, calls, over } = await carrierOf(200)
    calls.apologise(TENANT, 'CA1', { text: null, number: '+12025550150', callerId: '+12025550100' })
    await over()
    expect(new URLSearchParams(asked[0]).get('Twiml')).toContain(' callerId="+12025550100"><Number>')
  })

  it('is said in its language', async () => {
    const { asked, calls, over } = await carrierOf(200)
    calls.apologise(TENANT, 'CA1', { text: 'Verzeihung.', language: 'de', number: null })
    await over()
    expect(new URLSearchParams(asked[0]).get('Twiml')).toContain('<Say language="de-DE">Verzeihung.</Say><Hangup/>')
  })

  it('that was heard already is not said again', async () => {
    const { asked, calls, over } = await carrierOf(200)
    calls.apologise(TENANT, 'CA1', { text: null, number: '+12025550150' })
    await over()
    expect(new URLSearchParams(asked[0]).get('Twiml')).toContain('<Response><Dial ')
  })

  it('without a number is followed by the end', async () => {
    const { asked, calls, over } = await carrierOf(200)
    calls.apologise(TENANT, 'CA1', { text: 'Sorry.', number: null })
    await over()
    expect(new URLSearchParams(asked[0]).get('Twiml')).toContain('<Say>Sorry.</Say><Hangup/>')
  })
})
