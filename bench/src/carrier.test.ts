import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { startBridge } from './bridge.fixture.ts'
import { Call } from './call.ts'
import { Carrier, signatureOf } from './carrier.ts'
import { portOf } from './handshake.ts'
import { Load } from './load.ts'
import { readStream } from './twiml.ts'

async function ringUp(callsMax: number) {
  const load = await Load.listen()
  const bridge = await startBridge(load.providers.modelUrl, callsMax)
  const plan = { calls: 5, seconds: 4.8, warmupSeconds: 0, rampPerSecond: 100, churnPerSecond: 0, callSeconds: 0 }
  const report = await load.run({ ...plan, firstTurnMs: 1_200, entrance: bridge.entrance }, () => {})
  load.close()
  bridge.close()
  return { report, told: bridge.told }
}

describe.concurrent('calls that a carrier brings', () => {
  it('are signed, follow the instructions, get the answers that are asked for, and are told of to their end', async () => {
    const { report, told } = await ringUp(5)
    expect(report).toMatchObject({ callsOpened: 5, callsRefused: 0, dropReasons: [] })
    expect(report.up).toEqual({ lost: 0, doubled: 0, reordered: 0 })
    expect(report.down).toEqual({ lost: 0, doubled: 0, reordered: 0 })
    expect(report.firstDelta.count).toBeGreaterThan(5)
    expect(report.bargeInToClear.count).toBeGreaterThan(0)
    for (const sid of new Set(told.map(({ callSid }) => callSid))) {
      const events = told.filter(({ callSid }) => callSid === sid).map(({ path, what }) => `${path} ${what}`)
      expect(events).toEqual([
        '/api/v1/incoming-call ringing',
        '/stream stream-started',
        '/stream stream-stopped',
        '/api/v1/call-status completed',
      ])
    }
  })

  it('for which there is no room are counted as refused, not as faults', async () => {
    const { report } = await ringUp(4)
    expect(report).toMatchObject({ callsOpened: 4, callsRefused: 1, dropReasons: [] })
  })
})

describe('a carrier', () => {
  it('signs as the real one does', () => {
    const form = {
      AccountSid: 'AC00000000000000000000000000000001',
      ApiVersion: '2010-04-01',
      CallSid: 'CA00000000000000000000000000000001',
      CallStatus: 'ringing',
      CallerName: '',
      Direction: 'inbound',
      From: '+14155550100',
      To: '+14155550199',
    }
    const url = 'https://voice.example.com/api/v1/incoming-call'
    expect(signatureOf('12345', url, form)).toBe('4gpZBiFJkK8WGiCVO88RE8pK7GQ=')
  })

  it('does not take an answer other than 200', async () => {
    const bridge = await startBridge('ws://127.0.0.1:9/', 1)
    const carrier = new Carrier({ ...bridge.entrance, authToken: 'another' } as typeof bridge.entrance)
    await expect(carrier.ring(new Call(1, 'f'.repeat(24), 0))).rejects.toThrow('401')
    carrier.close()
    bridge.close()
  })

  it('asks again when a connection that it used before was closed under its request', async () => {
    const asked: (Socket | null)[] = []
    const server = createServer(({ socket }, response) => {
      asked.push(socket)
      if (asked.length === 2) socket.resetAndDestroy()
      else response.end('<Response/>')
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const address = `http://127.0.0.1:${portOf(server)}`
    const secrets = { publicUrl: address, authToken: 'secret', number: '+14155550199' }
    const carrier = new Carrier({ kind: 'webhooks', address, ...secrets })
    for (const id of [1, 2]) expect(await carrier.ring(new Call(id, 'f'.repeat(24), 0))).toBeUndefined()
    expect(asked.length).toBe(3)
    expect(asked[1]).toBe(asked[0])
    expect(asked[2]).not.toBe(asked[0])
    carrier.close()
    server.close()
  })
})

describe('instructions', () => {
  it('give the path of a stream, its parameters unescaped, and where to report', () => {
    const document = `<Response><Connect><Stream statusCallback="https://a.example/s" url="wss://a.example/media/x">
      <Parameter name="a" value="&lt;&amp;&quot;&#39;&#x41;"/></Stream></Connect></Response>`
    expect(readStream(document)).toEqual({ path: '/media/x', parameters: { a: `<&"'A` }, statusPath: '/s' })
  })

  it('without a stream are a refusal', () => {
    expect(readStream('<Response><Hangup/></Response>')).toBeUndefined()
  })
})
