import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a chat model was asked, as it came. */
type Asked = {
  authorization: string | undefined
  model: string
  messages: { role: string; content: string | null; tool_call_id?: string }[]
  tools?: { function: { name: string; parameters: object } }[]
  reasoning_effort?: string
  response_format?: object
}

type Call = { name: string; arguments: string }
type Answer = { says?: string | null; calls?: Call[] } | { status: number; body: string } | 'nothing' | 'cut'

/** A chat model that answers what the test wants. Whoever starts it closes it. */
export type ChatServer = {
  baseUrl: string
  asked: Asked[]
  /** From now on; a list is used up one by one, its last one stays. */
  answer(...answers: Answer[]): void
  close(): Promise<void>
}

export async function startChatServer(): Promise<ChatServer> {
  const asked: Asked[] = []
  let answers: Answer[] = [{ says: 'Yes.' }]
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Asked
      asked.push({ ...body, authorization: request.headers.authorization })
      const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? 'nothing'
      if (answer === 'nothing') return
      if (answer === 'cut') request.socket.destroy()
      else if ('status' in answer) response.writeHead(answer.status).end(answer.body)
      else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(completion(answer)))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    answer(...next) {
      answers = next
    },
    async close() {
      server.closeAllConnections()
      server.close()
      if (server.listening) await once(server, 'close')
    },
  }
}

function completion({ says = null, calls = [] }: { says?: string | null; calls?: Call[] }) {
  const tool_calls = calls.map((call, index) => ({ id: `call_${index}`, type: 'function', function: call }))
  return { choices: [{ message: { role: 'assistant', content: says, ...(calls.length > 0 && { tool_calls }) } }] }
}
