import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocket, WebSocketServer } from 'ws'

/** What the bridge needs to know of its two providers. */
export type BridgeOptions = { restUrl: string; accountSid: string; authToken: string; modelUrl: string }

/** A running bridge; `voiceUrl` is what a number is set to. */
export type Bridge = { voiceUrl: string; close(): Promise<void> }

const TOOLS = ['book_table', 'end_call'].map((name) => ({
  type: 'function',
  name,
  parameters: { type: 'object', properties: {} },
}))
const FORMAT = { format: { type: 'audio/pcmu' } }
const SESSION = {
  type: 'realtime',
  tools: TOOLS,
  audio: { input: { ...FORMAT, transcription: { model: 'whisper-1' } }, output: FORMAT },
}

/** The smallest bridge that is one: it joins a call's media stream to a realtime model, and stops when the caller speaks. */
export async function startBridge(options: BridgeOptions): Promise<Bridge> {
  const server = createServer((request, response) => {
    const host = request.headers.host ?? ''
    response.setHeader('content-type', 'text/xml')
    response.end(`<Response><Connect><Stream url="ws://${host}/media"/></Connect></Response>`)
  })
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (carrier) => join(carrier, options))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    for (const socket of sockets.clients) socket.terminate()
    return new Promise<void>((resolve) => server.close(() => resolve()))
  }
  return { voiceUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/voice`, close }
}

function join(carrier: WebSocket, options: BridgeOptions): void {
  const model = new WebSocket(options.modelUrl, { headers: { authorization: 'Bearer key' } })
  const toModel = (event: object) => model.readyState === WebSocket.OPEN && model.send(JSON.stringify(event))
  const toCarrier = (event: object) => carrier.send(JSON.stringify({ ...event, streamSid }))
  let [streamSid, callSid, keys, speaking, startedMs, sentMs] = ['', '', '', '', 0, 0]

  carrier.on('message', (data) => {
    const message = JSON.parse(String(data))
    if (message.event === 'start') [streamSid, callSid] = [message.streamSid, message.start.callSid]
    if (message.event === 'media') toModel({ type: 'input_audio_buffer.append', audio: message.media.payload })
    if (message.event === 'dtmf') keys += message.dtmf.digit
    if (keys.endsWith('#')) {
      toModel(textItem(`The caller pressed the keys ${keys}`))
      toModel({ type: 'response.create' })
      keys = ''
    }
    if (message.event === 'mark' && message.mark.name === 'goodbye') void hangUp(options, callSid)
  })
  carrier.on('close', () => model.close())
  model.on('close', () => carrier.close())
  model.on('error', () => carrier.close())
  model.on('message', (data) => {
    const event = JSON.parse(String(data))
    if (event.type === 'session.created') toModel({ type: 'session.update', session: SESSION })
    if (event.type === 'session.updated') toModel({ type: 'response.create' })
    if (event.type === 'response.output_audio.delta') {
      if (event.item_id !== speaking) [speaking, startedMs, sentMs] = [event.item_id, performance.now(), 0]
      sentMs += Buffer.from(event.delta, 'base64').length / 8
      toCarrier({ event: 'media', media: { payload: event.delta } })
    }
    const playedMs = Math.floor(performance.now() - startedMs)
    if (event.type === 'input_audio_buffer.speech_started' && playedMs < sentMs) {
      toCarrier({ event: 'clear' })
      toModel({
        type: 'conversation.item.truncate',
        item_id: speaking,
        content_index: 0,
        audio_end_ms: Math.max(1, playedMs),
      })
    }
    if (event.type === 'response.done') answerCalls(event.response.output)
  })

  const answerCalls = (output: { type: string; name: string; call_id: string }[]) => {
    for (const call of output.filter(({ type }) => type === 'function_call')) {
      if (call.name === 'end_call') return toCarrier({ event: 'mark', mark: { name: 'goodbye' } })
      const item = { type: 'function_call_output', call_id: call.call_id, output: '{"table":"seven"}' }
      toModel({ type: 'conversation.item.create', item })
      toModel({ type: 'response.create' })
    }
  }
}

function textItem(text: string): object {
  const item = { type: 'message', role: 'system', content: [{ type: 'input_text', text }] }
  return { type: 'conversation.item.create', item }
}

async function hangUp({ restUrl, accountSid, authToken }: BridgeOptions, callSid: string): Promise<void> {
  const authorization = `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}`
  const body = new URLSearchParams({ Status: 'completed' })
  await fetch(`${restUrl}/2010-04-01/Accounts/${accountSid}/Calls/${callSid}.json`, {
    method: 'POST',
    headers: { authorization },
    body,
  })
}
