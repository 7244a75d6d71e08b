import { randomBytes } from 'node:crypto'

/** Who sets the tenant up, and how long its callers must speak to stop the agent (undefined: the default). */
export type TenantOptions = { adminKey: string; minSpeechMs: number | undefined }

const AGENT_KEY = 'bench'
const INSTRUCTIONS = 'You answer the telephone of a company that sells garden chairs. Be brief and friendly.'

let tenants = 0

/**
 * Makes a tenant whose agent answers a number, over the admin API of the service at `address`. Returns the number.
 * @throws Error with the answer that was not 200.
 */
export async function makeTenant(address: string, { adminKey, minSpeechMs }: TenantOptions): Promise<string> {
  tenants += 1
  const tenantId = `bench-${randomBytes(6).toString('hex')}`
  const number = `+1202556${String(tenants).padStart(4, '0')}`
  const send = (method: string, path: string, body: object) =>
    sendAdmin({ method, url: `${address}/api/v1/admin/tenants/${tenantId}${path}`, adminKey, body })

  await send('PUT', '', { tenant_id: tenantId, limits: LIMITS })
  const { agent } = await send('POST', '/agents', { agent_key: AGENT_KEY, name: 'Bench' })
  const interruption = minSpeechMs === undefined ? {} : { min_speech_ms: minSpeechMs }
  const config = { greeting: 'Hello, this is the bench.', instructions: INSTRUCTIONS, interruption }
  const { version } = await send('POST', '/agent-versions', { agent_id: agent?.id, config })
  await send('POST', `/agent-versions/${version?.id}/publish`, {})
  await send('POST', '/phone-routes', { phone_number: number, agent_key: AGENT_KEY })
  return number
}

/** Limits that no benchmark reaches. */
export const LIMITS = {
  max_concurrent_calls: 10_000,
  requests_per_minute: 1_000_000,
  max_call_seconds: 14_400,
  idle_seconds: 600,
  minutes_per_day: 10_000_000,
}

/** A request to the admin API. */
export type AdminRequest = { method: string; url: string; adminKey: string; body: object }
type AdminAnswer = { agent?: { id: string }; version?: { id: string }; created?: { token: string } }

/** Asks the admin API. @throws Error with the answer that was not 200. */
export async function sendAdmin({ method, url, adminKey, body }: AdminRequest): Promise<AdminAnswer> {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', 'x-admin-key': adminKey },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${url} was answered with ${response.status}: ${text}`)
  return JSON.parse(text)
}
