import { createParley } from './index.ts'

export const event = (id: number, name = 'state') => `id: ${id}\nevent: ${name}\ndata: {}\n\n`

/** An answer whose events are told at once; it stays open unless it is cut, and breaks off as connections do. */
export function streamOf(request: Request, text: string, isCut = false): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text))
      request.signal.addEventListener('abort', () => controller.error(request.signal.reason))
      if (isCut) controller.close()
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

export type Answer = (request: Request) => Response | Promise<Response>

/** Somebody who watches, and is answered so, one connection after the other; `beside` answers what else is asked. */
export function watchBeside(beside: Answer, ...answers: Answer[]) {
  const seen = { after: [] as (string | null)[], ids: [] as string[], end: 'none' as unknown }
  const parley = createParley({
    baseUrl: 'https://voice.example.com',
    apiKey: 'k',
    async fetch(request) {
      if (!request.url.endsWith('/events')) return beside(request)
      const answer = answers[Math.min(seen.after.length, answers.length - 1)]
      seen.after.push(request.headers.get('last-event-id'))
      if (!answer) throw new TypeError('fetch failed')
      return answer(request)
    },
  })
  const read = async () => {
    for await (const { id } of parley.watchSession('MZ1')) seen.ids.push(id)
  }
  void read().then(
    () => {
      seen.end = 'quietly'
    },
    (error: unknown) => {
      seen.end = error
    },
  )
  return seen
}

export const json = (body: unknown) =>
  new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } })

export const refusal = (status: number, headers = {}) => new Response('', { status, headers })
