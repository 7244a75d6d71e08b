import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { startNetRelay } from './relay-net.ts'
import { type Relay, relayUrl } from './relay-process.ts'
import { startWsRelay } from './relay-ws.ts'

const opened: { close(): unknown }[] = []
afterEach(() => {
  for (const one of opened.splice(0)) one.close()
})

async function connect(start: (modelUrl: string) => Promise<Relay>) {
  const modelServer = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  await once(modelServer, 'listening')
  const relay = await start(`ws://127.0.0.1:${(modelServer.address() as AddressInfo).port}/`)
  const modelSide = once(modelServer, 'connection')
  const caller = new WebSocket(relayUrl(relay))
  const [model]: WebSocket[] = (await Promise.all([modelSide, once(caller, 'open')]))[0]
  if (model === undefined) throw new Error('no model socket')
  opened.push(modelServer, relay)
  return { caller, model, say: (message: object) => caller.send(JSON.stringify(message)) }
}

async function next(socket: WebSocket): Promise<unknown> {
  const [data] = await once(socket, 'message')
  return JSON.parse(String(data))
}

function delta(audio: string): string {
  return JSON.stringify({ type: 'response.output_audio.delta', event_id: 'e', item_id: 'i', delta: audio })
}

describe.each([
  ['bare sockets', startNetRelay],
  ['ws', startWsRelay],
])('the relay on %s', (_name, start) => {
  it('passes the caller`s audio to the model and the model`s back, with a mark behind it', async () => {
    const { caller, model, say } = await connect(start)
    say({ event: 'connected', protocol: 'Call', version: '1.0.0' })
    say({ event: 'start', streamSid: 'MZ1', start: {} })
    const atModel = next(model)
    say({ event: 'media', streamSid: 'MZ1', media: { track: 'inbound', payload: 'UExFQVNF' } })
    expect(await atModel).toEqual({ type: 'input_audio_buffer.append', audio: 'UExFQVNF' })

    const heard: unknown[] = []
    caller.on('message', (data) => heard.push(JSON.parse(String(data))))
    model.send(delta('SEVMTE8='))
    model.send(JSON.stringify({ type: 'input_audio_buffer.speech_started', item_id: 'i' }))
    await expect
      .poll(() => heard)
      .toEqual([
        { event: 'media', streamSid: 'MZ1', media: { payload: 'SEVMTE8=' } },
        { event: 'mark', streamSid: 'MZ1', mark: { name: 'm1' } },
        { event: 'clear', streamSid: 'MZ1' },
      ])
  })

  it('lives through audio of the model that comes before the caller`s start', async () => {
    const { caller, model, say } = await connect(start)
    model.send(delta('RUFSTFk='))
    const pong = once(model, 'pong')
    model.ping()
    await pong
    const heard = next(caller)
    const atModel = next(model)
    say({ event: 'start', streamSid: 'MZ1', start: {} })
    say({ event: 'media', streamSid: 'MZ1', media: { track: 'inbound', payload: 'UExFQVNF' } })
    await atModel
    model.send(delta('SEVMTE8='))
    expect(await heard).toEqual({ event: 'media', streamSid: 'MZ1', media: { payload: 'SEVMTE8=' } })
  })

  it.each(['stop', 'close'])('closes the model`s socket at the caller`s %s', async (how) => {
    const { caller, model, say } = await connect(start)
    const closed = once(model, 'close')
    if (how === 'stop') say({ event: 'stop', streamSid: 'MZ1', stop: {} })
    else caller.close()
    await closed
  })

  it('closes the caller`s socket when the model`s breaks', async () => {
    const { caller, model } = await connect(start)
    const closed = once(caller, 'close')
    model.terminate()
    await closed
  })
})
