import { describe, expect, it } from 'vitest'
import { useCallApp } from './harness/call-app.ts'
import { useDatabase } from './harness/database.ts'
import { until } from './harness/wait.ts'

describe('a service that is told to stop', () => {
  const test = useDatabase()
  const app = useCallApp(test, { settings: { DRAIN_SECONDS: '5' } })

  it('takes no call any more, and lets those that there are come to their end', async () => {
    const client = await app.talk({ CallSid: 'CA1' })
    let isOver = false
    const draining = app.served.app.drain().then(() => {
      isOver = true
    })
    expect((await fetch(`${app.served.address}/readyz`)).status).toBe(503)
    expect(await app.ring({ CallSid: 'CA2' })).toMatch(/<Say>[^<]+<\/Say><Hangup\/>/)

    await app.clock.advance(4_000)
    client.media()
    await until(() => app.model.last.appended.length === 1, { what: 'the audio' })
    expect(isOver).toBe(false)
    client.send({ event: 'stop', streamSid: 'MZCA1', stop: {} })
    await app.pass(() => isOver, 'the end of the calls')
    await draining
  })

  it('ends the calls that are left when its time is over', async () => {
    const client = await app.talk({ CallSid: 'CA1' })
    const draining = app.served.app.drain()
    await app.clock.advance(4_000)
    expect([client.closeCode, app.rest.requests]).toEqual([null, []])
    await app.pass(() => app.rest.requests.length > 0, 'the call to be ended')
    expect(await app.pass(() => client.closeCode, 'the end of the stream')).toBe(1000)
    await app.clock.advance(1_000)
    await draining
  })
})
