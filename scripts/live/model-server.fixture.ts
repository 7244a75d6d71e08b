import { onTestFinished } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { startAnswering } from './answering.fixture.ts'

type Event = { type: string; [member: string]: unknown }

/** What a server that is not quite right says when it is asked to speak. */
export type SpokenEvents = (responseId: string) => Event[]

/** The pieces of one answer in audio. */
export function audioAnswer(audio: Buffer): SpokenEvents {
  return (responseId) => [
    {
      ...{ type: 'response.output_audio.delta', event_id: 'e', response_id: responseId, item_id: 'item_1' },
      ...{ output_index: 0, content_index: 0, delta: audio.toString('base64') },
    },
  ]
}

/** An answer in text, where audio was asked for. */
export const textAnswer: SpokenEvents = (responseId) => [
  { type: 'response.output_text.done', response_id: responseId, item_id: 'item_1', text: 'Hello.' },
]

/** A realtime server that takes every setting and refuses nothing. Its address, until the test is over. */
export async function startModelServer(spoken: SpokenEvents): Promise<string> {
  const server = await startAnswering()
  const sockets = new WebSocketServer({ noServer: true })
  server.onUpgrade = (request, socket, head) =>
    sockets.handleUpgrade(request, socket, head, (each) => serve(each, spoken))
  onTestFinished(() => {
    for (const socket of sockets.clients) socket.terminate()
  })
  return `${server.url.replace('http', 'ws')}/v1/realtime`
}

function serve(socket: WebSocket, spoken: SpokenEvents): void {
  const send = (event: Event) => socket.send(JSON.stringify({ event_id: 'e', ...event }))
  const response = { id: 'resp_1', status: 'completed', status_details: null, output: [], usage: null }
  send({ type: 'session.created', session: {} })
  socket.on('message', (data) => {
    const { type } = JSON.parse(String(data)) as Event
    if (type === 'session.update') send({ type: 'session.updated', session: {} })
    if (type !== 'response.create') return
    send({ type: 'response.created', response })
    for (const event of spoken(response.id)) send(event)
    send({ type: 'response.done', response })
  })
}
