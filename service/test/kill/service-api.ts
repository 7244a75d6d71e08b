import { until } from '../harness/wait.ts'
import { ADMIN_API_KEY } from './service-nodes.ts'
import type { ShownTurn } from './turn-ledger.ts'

export const TENANT = 'kill'
export const NUMBER = '+12025550199'
export const AGENT_KEY = 'desk'
const TIMEOUT_MS = 10_000
const LIMITS = { max_concurrent_calls: 10_000, requests_per_minute: 1_000_000, idle_seconds: 600 }

/** A conversation as the API shows it, as far as it is looked at here. */
export type ShownSession = { id: string; call_sid: string; ended_at: string | null; transcript: ShownTurn[] }

type Request = { method: string; path: string; headers: Record<string, string>; body?: unknown }

/** An answer that was not 200. */
class Refused extends Error {
  readonly status: number

  constructor({ method, path }: Request, status: number, text: string) {
    super(`${method} ${path} was answered with ${status}: ${text}`)
    this.status = status
  }
}

/** Asks a node for JSON. @throws Error with the answer that was not 200, or why there was none */
export async function ask<Answer>(address: string, request: Request): Promise<Answer> {
  const { method, path, headers, body } = request
  const response = await fetch(`${address}/api/v1${path}`, {
    method,
    signal: AbortSignal.timeout(TIMEOUT_MS),
    headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Refused(request, response.status, text)
  return JSON.parse(text) as Answer
}

/** Asks as the administrator, about the tenant. */
export function administer<Answer>(address: string, method: string, path: string, body?: unknown): Promise<Answer> {
  const headers = { 'x-admin-key': ADMIN_API_KEY }
  return ask(address, { method, path: `/admin/tenants/${TENANT}${path}`, headers, body })
}

/** Makes the tenant with an agent that answers `NUMBER`; returns an API key of it. */
export async function makeTenant(address: string): Promise<string> {
  await administer(address, 'PUT', '', { tenant_id: TENANT, limits: LIMITS })
  const { agent } = await administer<{ agent: { id: string } }>(address, 'POST', '/agents', {
    ...{ agent_key: AGENT_KEY, name: 'Desk' },
  })
  const { version } = await administer<{ version: { id: string } }>(address, 'POST', '/agent-versions', {
    agent_id: agent.id,
    config: {
      greeting: 'Hello, what may I put on your list?',
      instructions: 'Write down what is ordered.',
      tools: ['end_call', 'record_outcome'],
    },
  })
  await administer(address, 'POST', `/agent-versions/${version.id}/publish`, {})
  await administer(address, 'POST', '/phone-routes', { phone_number: NUMBER, agent_key: AGENT_KEY })
  return makeKey(address).then(({ token }) => token)
}

/** Makes an API key of the tenant. */
export async function makeKey(address: string): Promise<{ id: string; token: string }> {
  type Created = { created: { token: string; api_key: { id: string } } }
  const { created } = await administer<Created>(address, 'POST', '/api-keys', { label: 'kill' })
  return { id: created.api_key.id, token: created.token }
}

/**
 * Reads a conversation with all that was said. Whose credential cannot be checked within a second is told to try again: a node that takes
 * over fifty calls at once, on a machine that does all of the rest as well, may be that busy.
 */
export function readSession(address: string, token: string, id: string): Promise<ShownSession> {
  const headers = { authorization: `Bearer ${token}` }
  const request = { method: 'GET', path: `/voice-sessions/${id}`, headers }
  const read = async () => {
    try {
      return (await ask<{ voice_session: ShownSession }>(address, request)).voice_session
    } catch (error) {
      if (error instanceof Refused && error.status === 503) return null
      throw error
    }
  }
  return until(read, { what: `conversation ${id}`, timeoutMs: TIMEOUT_MS })
}
