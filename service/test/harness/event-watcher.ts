import { onTestFinished } from 'vitest'

/** An event as a watcher is told it. */
export type Told = { id: string; event: string; data: Record<string, unknown> }

/** Somebody who watches server-sent events. */
export type Watcher = { status: number; told: Told[]; isOver(): boolean; stop(): void }

/** Watches until the events end, `stop` is called or the test is over; from after `lastEventId` on if it is given. */
export async function watchEvents(url: string, token: string, lastEventId?: string): Promise<Watcher> {
  const stopping = new AbortController()
  onTestFinished(() => stopping.abort())
  const headers = { authorization: `Bearer ${token}`, ...(lastEventId && { 'last-event-id': lastEventId }) }
  const response = await fetch(url, { headers, signal: stopping.signal })
  const told: Told[] = []
  let isOver = false
  void read(response, told)
    .catch(() => {})
    .finally(() => {
      isOver = true
    })
  return { status: response.status, told, isOver: () => isOver, stop: () => stopping.abort() }
}

async function read(response: Response, told: Told[]): Promise<void> {
  let rest = ''
  for await (const chunk of response.body ?? []) {
    const blocks = (rest + Buffer.from(chunk).toString()).split('\n\n')
    rest = blocks.pop() ?? ''
    told.push(...blocks.flatMap(parsed))
  }
}

function parsed(block: string): Told[] {
  const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s, 2)))
  return fields['event'] ? [{ id: fields['id'], event: fields['event'], data: JSON.parse(fields['data'] ?? '') }] : []
}
