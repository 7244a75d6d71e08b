import { describe, expect, it } from 'vitest'
import { NUMBER, useCallApp } from './harness/call-app.ts'
import { useDatabase } from './harness/database.ts'
import { passingWork } from './harness/passing.ts'
import { startTalking } from './harness/talking-calls.ts'
import { until } from './harness/wait.ts'

const DRAIN_MS = 5_000

describe('a service that is told to stop', () => {
  const test = useDatabase()
  const app = useCallApp(test, { settings: { DRAIN_SECONDS: String(DRAIN_MS / 1_000) } })

  /** The calls that their carrier was asked to end, each as often as it was. */
  const ended = () =>
    app.rest.requests
      .filter(({ form }) => form['Status'] === 'completed')
      .map(({ path }) => /Calls\/(.*)\.json/.exec(path)?.[1])
      .toSorted()

  const reasons = async () => {
    const rows = await test.db.selectFrom('voice_sessions').select(['call_sid', 'end_reason']).execute()
    return rows.map(({ call_sid, end_reason }) => [call_sid, end_reason]).toSorted()
  }

  it('takes no call any more, and lets those that there are come to their end', async () => {
    const client = await app.talk({ CallSid: 'CA1' })
    let isOver = false
    const draining = app.served.app.drain().then(() => {
      isOver = true
    })
    expect((await fetch(`${app.served.address}/readyz`)).status).toBe(503)
    const metrics = await (await fetch(`${app.served.address}/metrics`)).text()
    expect(metrics.match(/^node_phase.* 1$/gm)).toEqual(['node_phase{phase="stopping"} 1'])
    expect(await app.ring({ CallSid: 'CA2' })).toMatch(/<Say>[^<]+<\/Say><Hangup\/>/)

    await app.clock.advance(4_000)
    client.media()
    await until(() => app.model.last.appended.length === 1, { what: 'the audio' })
    expect(isOver).toBe(false)
    client.send({ event: 'stop', streamSid: 'MZCA1', stop: {} })
    // Read by the service before time goes on to the end of the drain.
    await client.heard()
    await app.pass(() => isOver, 'the end of the calls')
    await draining
    const endOfCall = async () => (await reasons()).find(([callSid]) => callSid === 'CA1')?.[1]
    expect(await app.pass(endOfCall, 'the end to be written down')).toBe('caller_hangup')
  })

  it('tells whoever wants a call of it to ask again, as it stops and is not full', async () => {
    const client = await app.talk({ CallSid: 'CA1' })
    const draining = app.served.app.drain()
    const stops = { status: 503, body: { code: 'unavailable', error: expect.stringMatching(/is stopping: ask again/) } }
    const placed = await app.served.call('acme', 'POST', '/make-call', {
      to: '+12025550142',
      from: NUMBER,
      agent_key: 'desk',
    })
    expect(placed).toMatchObject(stops)
    expect(await app.served.call('acme', 'POST', '/browser-calls', { agent_key: 'desk' })).toMatchObject(stops)
    // Over another connection, which may lead to another node.
    expect((await fetch(`${app.served.address}/api/v1/call-logs`)).headers.get('connection')).toBe('close')
    client.send({ event: 'stop', streamSid: 'MZCA1', stop: {} })
    await passingWork(app.clock, draining)
  })

  it('answers whoever waits for it before it stops', async () => {
    const carrier = Promise.withResolvers<void>()
    app.rest.reply = async () => {
      await carrier.promise
      return { status: 201, body: { sid: 'CA9', status: 'queued' } }
    }
    const ask = { to: '+12025550142', from: NUMBER, agent_key: 'desk' }
    const placed = app.served.call('acme', 'POST', '/make-call', ask)
    await until(() => app.rest.requests.length === 1, { what: 'the carrier to be asked' })
    let isOver = false
    void app.served.app.drain().then(() => {
      isOver = true
    })
    await app.clock.advance(3_000)
    expect(isOver).toBe(false)
    carrier.resolve()
    expect(await placed).toMatchObject({ status: 200 })
    await app.pass(() => isOver, 'the end')
  })

  it('F72: with fifty calls cuts none of them in its time, and ends those that are left after it', async () => {
    const calls = await startTalking(
      app,
      Array.from({ length: 50 }, (_, index) => `CT${index}`),
    )
    const beganMs = app.clock.now()
    const draining = app.served.app.drain()
    const cut = () => calls.filter(({ client }) => client.closeCode !== null)
    await app.pass(() => cut().length > 0 || app.clock.now() >= beganMs + 2_000, 'two seconds to pass')
    expect(cut()).toEqual([])
    const [over, left] = [calls.slice(0, 25), calls.slice(25)]
    for (const { client, callSid } of over) client.send({ event: 'stop', streamSid: `MZ${callSid}`, stop: {} })
    // Read by the service before time goes on to the end of the drain.
    for (const { client } of over) await client.heard()
    const isCut = () => ended().length > 0 || left.some(({ client }) => client.closeCode !== null)
    await app.pass(isCut, 'the first of the others to be ended')
    expect(app.clock.now()).toBeGreaterThanOrEqual(beganMs + DRAIN_MS)
    await app.pass(() => calls.every(({ client }) => client.closeCode === 1000), 'the end of the streams')
    await passingWork(app.clock, draining)
    await app.pass(() => ended().length >= left.length, 'their carrier to be told')
    expect(ended()).toEqual(left.map(({ callSid }) => callSid).toSorted())
    const wanted = [
      ...over.map(({ callSid }) => [callSid, 'caller_hangup']),
      ...left.map(({ callSid }) => [callSid, 'shutdown']),
    ]
    await app.pass(async () => (await reasons()).every(([, reason]) => reason !== null), 'the ends to be written down')
    expect(await reasons()).toEqual(wanted.toSorted())
    const { turns } = await test.db
      .selectFrom('transcript_turns')
      .select(({ fn }) => fn.countAll<number>().as('turns'))
      .executeTakeFirstOrThrow()
    expect(Number(turns)).toBe(50)
  })

  it('ends the calls that are left when its time is over', async () => {
    // Nothing that it waits to hear puts its end off.
    const [call] = await startTalking(app, ['CA1'])
    const beganMs = app.clock.now()
    const draining = app.served.app.drain()
    await app.pass(() => app.rest.requests.length > 0, 'the call to be ended')
    expect(app.clock.now()).toBeGreaterThanOrEqual(beganMs + DRAIN_MS)
    expect(await app.pass(() => call?.client.closeCode, 'the end of the stream')).toBe(1000)
    await passingWork(app.clock, draining)
  })
})

describe('a service that has an hour to stop', () => {
  const app = useCallApp(useDatabase(), { settings: { DRAIN_SECONDS: '3600' } })

  it('stops as soon as its calls are over', async () => {
    const client = await app.talk({ CallSid: 'CA1' })
    const draining = app.served.app.drain()
    client.send({ event: 'stop', streamSid: 'MZCA1', stop: {} })
    // While it waits for this, less than an hour passes.
    await passingWork(app.clock, draining)
  })
})
