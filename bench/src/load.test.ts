import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { Load, type LoadPlan } from './load.ts'
import { startNetRelay } from './relay-net.ts'
import { type Relay, relayUrl, type StartRelay } from './relay-process.ts'
import { startWsRelay } from './relay-ws.ts'

const NOTHING_ASTRAY = { lost: 0, doubled: 0, reordered: 0 }

async function run(start: StartRelay, plan: Partial<LoadPlan>) {
  const load = await Load.listen()
  const relay = await start(load.providers.modelUrl)
  const windows: string[] = []
  const defaults = {
    ...{ calls: 5, seconds: 2, warmupSeconds: 0.1, rampPerSecond: 100, churnPerSecond: 0, callSeconds: 0 },
    entrance: { kind: 'stream', url: relayUrl(relay) } as const,
  }
  const report = await load.run({ ...defaults, ...plan }, (state) => windows.push(state))
  load.close()
  relay.close()
  return { report, windows }
}

describe.concurrent('five calls', () => {
  it.each([
    ['bare sockets', startNetRelay],
    ['ws', startWsRelay],
  ])('go through the relay on %s whole, with answers and an interruption', async (_name, start) => {
    const { report, windows } = await run(start, { seconds: 4.6, firstTurnMs: 1_200 })
    expect(windows).toEqual(['open', 'closed'])
    expect(report.up).toEqual(NOTHING_ASTRAY)
    expect(report.down).toEqual(NOTHING_ASTRAY)
    expect(report.faults).toMatchObject({ crossed: 0, damaged: 0, refused: 0, clearsMissing: 0, callsDropped: 0 })
    expect(report.callSeconds).toBeGreaterThan(10)
    expect(report.callerToModel.count).toBe(Math.round(report.callSeconds * 50))
    expect(report.firstDelta.count).toBeGreaterThan(0)
    expect(report.ownTurn.count).toBeGreaterThan(0)
    expect(report.bargeInToClear.count).toBeGreaterThan(0)
  })

  it('may end and start while the load runs', async () => {
    const { report } = await run(startNetRelay, { churnPerSecond: 5 })
    expect(report.up).toEqual(NOTHING_ASTRAY)
    expect(report.down).toEqual(NOTHING_ASTRAY)
    expect(report.faults.callsDropped).toBe(0)
  })

  it('may also end at an age, while new ones come at their own pace', async () => {
    const { report } = await run(startNetRelay, { churnPerSecond: 5, callSeconds: 1, calls: 2 })
    expect(report.callsOpened).toBeGreaterThan(7)
    expect(report.up).toEqual(NOTHING_ASTRAY)
    expect(report.faults.callsDropped).toBe(0)
  })

  it('through a relay that drops, doubles, swaps, damages and crosses frames show each of these faults', async () => {
    const { report } = await run(startFaultyRelay, { calls: 4 })
    expect(report.up).toEqual({ lost: 2 * 4, doubled: 4, reordered: 4 })
    expect(report.faults).toMatchObject({ crossed: 4, damaged: 4 })
    expect(report.down.doubled).toBeGreaterThan(0)
    expect(report.down.lost).toBe(0)
  })

  it('count as dropped when nobody answers them', async () => {
    const { report } = await run(startRefusingServer, { seconds: 0.1 })
    expect(report.faults.callsDropped).toBe(5)
  })
})

async function startRefusingServer(): Promise<Relay> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, verifyClient: () => false })
  await once(server, 'listening')
  return server
}

/** Treats some of each call's frames wrongly, the same in every call, and doubles every delta. */
async function startFaultyRelay(modelUrl: string): Promise<Relay> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  const models: WebSocket[] = []
  server.on('connection', (caller) => {
    const index = models.length
    const model = new WebSocket(modelUrl)
    models.push(model)
    const ready = once(model, 'open')
    const held: string[] = []
    let frames = 0
    let streamSid = ''
    caller.on('message', (data) => {
      const { event, media, ...message } = JSON.parse(data.toString())
      if (event === 'start') streamSid = message.streamSid
      if (event !== 'media') return
      const frame = frames++
      const append = JSON.stringify({ type: 'input_audio_buffer.append', audio: media.payload })
      void ready.then(() => mistreat(frame, append))
    })
    const mistreat = (frame: number, append: string) => {
      if (frame === 10) return
      if (frame === 20) model.send(append)
      if (frame === 30) held.push(append)
      else if (frame === 50) model.send(append.replace(/.{3}"}$/, 'AA="}'))
      else if (frame === 60) models[(index + 1) % models.length]?.send(append)
      else model.send(append)
      if (frame === 31) for (const late of held) model.send(late)
    }
    model.on('message', (data) => {
      const { type, delta } = JSON.parse(data.toString())
      const media = JSON.stringify({ event: 'media', streamSid, media: { payload: delta } })
      if (type === 'input_audio_buffer.speech_started') caller.send(JSON.stringify({ event: 'clear', streamSid }))
      if (type === 'response.output_audio.delta') for (const twice of [media, media]) caller.send(twice)
    })
    caller.on('close', () => model.close())
  })
  await once(server, 'listening')
  return server
}
