import type { Api } from './api.ts'

/** What the service has written down of a call, as far as it is looked at here. */
export type StoredCall = {
  log: {
    call_sid: string
    direction: string
    from: string
    to: string
    status: string
    agent_name: string | null
    duration_seconds: number | null
    voice_session_id: string | null
  }
  session: {
    id: string
    end_reason: string | null
    ended_at: string | null
    latency: {
      greeting_ms: number | null
      response_p50_ms: number | null
      response_p95_ms: number | null
      interruptions: number
    }
    usage: { input_tokens: number; output_tokens: number; audio_seconds: number }
    tags: string[]
    transcript: { role: string; text: string; interrupted: boolean }[]
    function_calls: { name: string; status: string; arguments: unknown }[]
  }
}

const TIMEOUT_MS = 10_000
const POLL_MS = 100
const OVER = ['completed', 'busy', 'failed', 'no-answer', 'canceled']

/**
 * Reads the record of a call that is over, once both its parts are closed.
 *
 * @throws Error when they are not within ten seconds.
 */
export async function readStoredCall(tenant: Api, callSid: string): Promise<StoredCall> {
  const deadlineMs = performance.now() + TIMEOUT_MS
  for (;;) {
    const stored = await readWhenOver(tenant, callSid)
    if (stored) return stored
    if (performance.now() > deadlineMs) throw new Error(`the record of ${callSid} was not closed in time`)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

async function readWhenOver(tenant: Api, callSid: string): Promise<StoredCall | null> {
  const { call_log: log } = await tenant.ask<{ call_log: StoredCall['log'] }>('GET', `/call-logs/${callSid}`)
  if (!OVER.includes(log.status) || log.voice_session_id === null) return null
  const path = `/voice-sessions/${log.voice_session_id}`
  const { voice_session: session } = await tenant.ask<{ voice_session: StoredCall['session'] }>('GET', path)
  return session.ended_at === null ? null : { log, session }
}

/** The record in a few lines for people. */
export function storedText({ log, session }: StoredCall): string[] {
  const { latency, usage } = session
  const turns = session.transcript.length
  const cut = session.transcript.filter(({ interrupted }) => interrupted).length
  return [
    `call log       ${log.call_sid}: ${log.direction} from ${log.from} to ${log.to}, ${log.status}, ${log.duration_seconds ?? 0} s, agent ${log.agent_name ?? '–'}`,
    `voice session  ${session.id}: ended by ${session.end_reason ?? '–'}, ${turns} turns, ${cut} of them interrupted`,
    `latency        greeting ${ms(latency.greeting_ms)}, answers ${ms(latency.response_p50_ms)} (median), ${ms(latency.response_p95_ms)} (95 of 100)`,
    `usage          ${usage.input_tokens} tokens in, ${usage.output_tokens} out, ${usage.audio_seconds.toFixed(1)} s of audio`,
    ...session.function_calls.map(
      ({ name, status, arguments: given }) => `function       ${name}(${JSON.stringify(given)}): ${status}`,
    ),
    ...(session.tags.length > 0 ? [`tags           ${session.tags.join(', ')}`] : []),
  ]
}

function ms(value: number | null): string {
  return value === null ? '–' : `${value} ms`
}
