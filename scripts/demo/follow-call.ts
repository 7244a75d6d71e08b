import type { Api } from './api.ts'
import { Conversation } from './conversation.ts'
import { readEvents } from './event-stream.ts'

type Watched = { streamSid: string; say: (line: string) => void; signal?: AbortSignal }

const APPEAR_TIMEOUT_MS = 10_000
const POLL_MS = 50

/**
 * Tells a live call as it happens, until its session has ended.
 *
 * @throws Error when there is no such session within ten seconds; the signal's reason.
 */
export async function followCall(tenant: Api, { streamSid, say, signal }: Watched): Promise<void> {
  const path = `/sessions/${encodeURIComponent(streamSid)}`
  const conversation = new Conversation(await agentOf(tenant, path, signal))
  for await (const event of readEvents(await tenant.open(`${path}/events`, signal))) {
    for (const line of conversation.take(event)) say(line)
  }
}

/** The carrier tells of a stream before the service has taken it. */
async function agentOf(tenant: Api, path: string, signal?: AbortSignal): Promise<string> {
  const deadlineMs = performance.now() + APPEAR_TIMEOUT_MS
  for (;;) {
    signal?.throwIfAborted()
    try {
      return (await tenant.ask<{ session: { agent_name: string } }>('GET', path)).session.agent_name
    } catch (error) {
      if (performance.now() > deadlineMs) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}
