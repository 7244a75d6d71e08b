import { once } from 'node:events'
import { WebSocket, WebSocketServer } from 'ws'
import { type Relay, runRelay } from './relay-process.ts'

const SOCKET_OPTIONS = { perMessageDeflate: false, skipUTF8Validation: true, maxPayload: 1_048_576 }
const SEND = { binary: false, compress: false }
const PAYLOAD = Buffer.from('"payload":"')
const DELTA = Buffer.from('"delta":"')
const APPEND_HEAD = Buffer.from('{"type":"input_audio_buffer.append","audio":"')
const TAIL = Buffer.from('"}')
const MEDIA_TAIL = Buffer.from('"}}')
const AUDIO_DELTA = '{"type":"response.output_audio.delta"'
const SPEECH_STARTED = '{"type":"input_audio_buffer.speech_started"'
const QUOTE = 0x22
/** Frames kept until the model's socket is open: 3 s. */
const WAITING_FRAMES_MAX = 150

/**
 * The yardstick: passes calls to the model and back over `ws`, cutting the audio out of one message and putting it
 * into the other, and does nothing else.
 */
export async function startWsRelay(modelUrl: string): Promise<Relay> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, ...SOCKET_OPTIONS })
  server.on('connection', (caller) => relay(caller, new WebSocket(modelUrl, SOCKET_OPTIONS)))
  await once(server, 'listening')
  return server
}

function relay(caller: WebSocket, model: WebSocket): void {
  const waiting: Buffer[] = []
  let stream: { sid: string; mediaHead: Buffer } | undefined
  let marks = 0

  caller.on('message', (data: Buffer) => {
    const key = data.indexOf(PAYLOAD)
    if (key < 0) {
      const message = JSON.parse(data.toString())
      if (message.event === 'start') stream = openStream(message.streamSid)
      if (message.event === 'stop') model.close()
      return
    }
    const at = key + PAYLOAD.length
    const append = Buffer.concat([APPEND_HEAD, data.subarray(at, data.indexOf(QUOTE, at)), TAIL])
    if (model.readyState === WebSocket.OPEN) model.send(append, SEND)
    else if (waiting.length < WAITING_FRAMES_MAX) waiting.push(append)
  })

  model.on('open', () => {
    for (const append of waiting.splice(0)) model.send(append, SEND)
  })

  model.on('message', (data: Buffer) => {
    // The caller's `start` may still be on its way; nobody hears audio before it.
    if (stream === undefined) return
    const type = data.toString('latin1', 0, SPEECH_STARTED.length)
    if (type.startsWith(AUDIO_DELTA)) {
      const at = data.indexOf(DELTA) + DELTA.length
      caller.send(Buffer.concat([stream.mediaHead, data.subarray(at, data.indexOf(QUOTE, at)), MEDIA_TAIL]), SEND)
      caller.send(Buffer.from(`{"event":"mark","streamSid":"${stream.sid}","mark":{"name":"m${++marks}"}}`), SEND)
    } else if (type === SPEECH_STARTED) {
      caller.send(Buffer.from(`{"event":"clear","streamSid":"${stream.sid}"}`), SEND)
    }
  })

  caller.on('close', () => model.close()).on('error', () => caller.terminate())
  model.on('close', () => caller.close()).on('error', () => caller.close())
}

function openStream(sid: string): { sid: string; mediaHead: Buffer } {
  return { sid, mediaHead: Buffer.from(`{"event":"media","streamSid":"${sid}","media":{"payload":"`) }
}

if (import.meta.main) await runRelay(startWsRelay)
