import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type RawData, WebSocket, WebSocketServer } from 'ws'
import { type Entrance, signatureOf } from './carrier.ts'

const PUBLIC_URL = 'https://bridge.example.com'
const AUTH_TOKEN = 'a token that is only a test'
const SESSION = {
  type: 'realtime',
  audio: { input: { turn_detection: { type: 'server_vad', create_response: false } } },
}

/** A service of a few lines that is rung up by webhooks and asks its model for every answer. */
export type Bridge = {
  entrance: Entrance
  /** What it was told of calls, in order: the path, the status or event, the call. */
  told: { path: string; what: string; callSid: string }[]
  close(): void
}

/** Starts one. It has room for `callsMax` calls. */
export async function startBridge(modelUrl: string, callsMax: number): Promise<Bridge> {
  const told: Bridge['told'] = []
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const form = await signedForm(request)
    if (form === undefined) return response.writeHead(401).end()
    const path = request.url ?? ''
    const { CallSid: callSid = '', CallStatus = '', StreamEvent } = form
    told.push({ path, what: StreamEvent ?? CallStatus, callSid })
    const isFull = told.filter((one) => one.what === 'ringing').length > callsMax
    return response.end(path === '/api/v1/incoming-call' ? instructions(callSid, isFull) : '')
  }
  const server = createServer((request, response) => void answer(request, response))
  const sockets = new WebSocketServer({ server, path: '/media' })
  sockets.on('connection', (caller) => bridge(caller, new WebSocket(modelUrl)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const entrance = { address: addressOf(server), publicUrl: PUBLIC_URL, authToken: AUTH_TOKEN, number: '+12025560001' }
  return { told, entrance: { kind: 'webhooks', ...entrance }, close: () => server.close() }
}

async function signedForm(request: IncomingMessage): Promise<Record<string, string> | undefined> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const form = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()))
  const expected = signatureOf(AUTH_TOKEN, `${PUBLIC_URL}${request.url}`, form)
  return request.headers['x-twilio-signature'] === expected ? form : undefined
}

function instructions(callSid: string, isFull: boolean): string {
  if (isFull) return '<Response><Say>All lines are busy.</Say><Hangup/></Response>'
  const parameter = `<Parameter name="token" value="&lt;${callSid}&gt;"/>`
  const stream = `<Stream url="wss://bridge.example.com/media" statusCallback="${PUBLIC_URL}/stream">${parameter}</Stream>`
  return `<?xml version="1.0"?><Response><Connect>${stream}</Connect></Response>`
}

function bridge(caller: WebSocket, model: WebSocket): void {
  const waiting: string[] = []
  let streamSid = ''
  let isReady = false
  const toModel = (message: object) => model.send(JSON.stringify(message))
  const toCaller = (message: object) => caller.send(JSON.stringify({ ...message, streamSid }))
  caller.on('message', (data) => {
    const { event, media, start } = parse(data)
    if (event === 'start') {
      streamSid = start.streamSid
      if (start.customParameters.token !== `<${start.callSid}>`) caller.close(1008)
    }
    if (event === 'stop') model.close()
    if (event !== 'media') return
    if (isReady) toModel({ type: 'input_audio_buffer.append', audio: media.payload })
    else waiting.push(media.payload)
  })
  model.on('message', (data) => {
    const { type, delta } = parse(data)
    if (type === 'session.created') toModel({ type: 'session.update', session: SESSION })
    if (type === 'input_audio_buffer.committed') toModel({ type: 'response.create' })
    if (type === 'response.output_audio.delta') toCaller({ event: 'media', media: { payload: delta } })
    if (type === 'input_audio_buffer.speech_started') toCaller({ event: 'clear' })
    if (type !== 'session.updated') return
    isReady = true
    toModel({ type: 'response.create' })
    for (const audio of waiting.splice(0)) toModel({ type: 'input_audio_buffer.append', audio })
  })
}

function parse(data: RawData) {
  return JSON.parse(String(data))
}

function addressOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
