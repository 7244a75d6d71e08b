import { useEffect, useEffectEvent, useState } from 'react'
import { forTenant } from './client.ts'
import { type ApiFailure, asFailure, failureOf, unreachable } from './failure.ts'

/** A server-sent event; `data` is its JSON. */
export type ServerEvent = { id: string | null; event: string; data: unknown }

type Stream = {
  /** Null: nothing is watched. */
  path: string | null
  tenantId: string
  onEvent: (event: ServerEvent) => void
}

const AGAIN_AFTER_MS = 1_000

/** Whether events come; with a failure, nobody will send any more. */
export type StreamState = { isOpen: boolean; failure: ApiFailure | null }

/**
 * Follows a stream of server-sent events for as long as the page shows it, and goes on behind the last event when the connection
 * is lost. A stream that is refused is not asked for again. (`EventSource` would send no header that says which tenant.)
 */
export function useEventStream({ path, tenantId, onEvent }: Stream): StreamState {
  const [state, setState] = useState<StreamState>({ isOpen: false, failure: null })
  const take = useEffectEvent(onEvent)
  useEffect(() => {
    if (path === null) return
    const leaving = new AbortController()
    const { signal } = leaving
    const follow = async () => {
      let lastId: string | null = null
      while (!signal.aborted) {
        const headers = new Headers(forTenant(tenantId))
        if (lastId !== null) headers.set('last-event-id', lastId)
        const response = await fetch(path, { headers, signal }).catch(() => null)
        if (response && !response.ok) throw await failureOf(response)
        if (response?.body) {
          setState({ isOpen: true, failure: null })
          const note = (event: ServerEvent) => {
            lastId = event.id ?? lastId
            take(event)
          }
          // Lost half way is what the next turn of this loop is for.
          await readEvents(response.body, note).catch(() => {})
        }
        if (signal.aborted) return
        setState({ isOpen: false, failure: response ? null : unreachable() })
        await later(AGAIN_AFTER_MS, signal)
      }
    }
    follow().catch((error: unknown) => setState({ isOpen: false, failure: asFailure(error) }))
    return () => leaving.abort()
  }, [path, tenantId])
  return state
}

/** To the end of the stream. */
async function readEvents(body: ReadableStream<Uint8Array>, take: (event: ServerEvent) => void): Promise<void> {
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    text += decoder.decode(value, { stream: true })
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const data = fieldIn(block, 'data')
      if (data === null) continue
      take({ id: fieldIn(block, 'id'), event: fieldIn(block, 'event') ?? 'message', data: JSON.parse(data) })
    }
  }
}

function fieldIn(block: string, name: string): string | null {
  const line = block.split('\n').find((candidate) => candidate.startsWith(`${name}: `))
  return line === undefined ? null : line.slice(name.length + 2)
}

function later(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, delayMs)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
