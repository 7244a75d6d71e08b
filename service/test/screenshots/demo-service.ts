import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { findRehearsal } from '../../../scripts/demo/running-rehearsal.ts'
import { makeTelephone, type Telephone, type TelephoneCall } from '../../../scripts/demo/telephone.ts'
import { DEMO } from '../../src/demo.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { killPrograms, type Program, startProgram } from '../harness/program.ts'
import { scratchFolder } from '../harness/scratch.ts'
import { until } from '../harness/wait.ts'
import { addDemoCalls } from './demo-data.ts'

export const LOGIN = { username: 'ada', password: 'the password of a demonstration' }
const ADMIN_API_KEY = 'ak_key_of_a_demonstration'
const CALLER = '+12025550147'
/** A machine that is busy takes no call, and is asked again. */
const TAKEN_WITHIN_MS = 180_000

/** A rehearsal with a week of calls behind it, and some of everything that a page shows. */
export type DemoService = {
  address: string
  ids: { agent: string; published: string; draft: string; task: string; campaign: string; call: string }
  /** Has somebody ring who says these things and stays on the line; resolves with the stream's id when that much was said. */
  ringAndStay(said: string[]): Promise<string>
  close(): Promise<void>
}

/** Starts it in a folder of its own. Whoever started it closes it. */
export async function startDemoService(): Promise<DemoService> {
  const folder = await scratchFolder()
  const close = async () => {
    await killPrograms()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    // The first start makes the demo tenant; while nothing runs its past is written.
    const first = startProgram(settingsOf(folder))
    await listening(first)
    await first.end('SIGTERM')
    await addDemoCalls(join(folder, 'database'), systemClock.now())
    const address = await listening(startProgram(settingsOf(folder)))
    const api = new Api(address)
    const telephone = makeTelephone(await findRehearsal({ dataDir: folder }))
    const call = await recordedCall(api, telephone)
    const ids = { ...(await fill(api, call)), call }
    return { address, ids, ringAndStay: (said) => ringAndStay(api, telephone, said), close }
  } catch (error) {
    await close()
    throw error
  }
}

function settingsOf(folder: string): Record<string, string> {
  return {
    ...{ DATA_DIR: folder, SIMULATOR: 'on', ADMIN_API_KEY, RATE_LIMIT_IP_PER_MINUTE: '1000000' },
    ...{ ADMIN_USERNAME: LOGIN.username, ADMIN_PASSWORD: LOGIN.password, RATE_LIMIT_TENANT_PER_MINUTE: '1000000' },
  }
}

const listening = (program: Program) => program.listening().catch(() => program.listening())

type Answer = {
  agents: { id: string; agent_key: string }[]
  versions: { id: string; status: string }[]
  agent: { id: string }
  version: { id: string }
  task: { id: string }
  campaign: { id: string }
  call_logs: { call_sid: string | null }[]
  sessions: { stream_sid: string; call_sid: string; last_words: { role: string } | null }[]
}

/** The service's own, as the administrator of the demo tenant. */
class Api {
  readonly #address: string

  constructor(address: string) {
    this.#address = address
  }

  async ask(method: string, path: string, body?: unknown): Promise<Answer> {
    const headers = {
      ...{ 'x-admin-key': ADMIN_API_KEY, 'x-tenant-id': DEMO.tenantId },
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(`${this.#address}/api/v1${path}`, { method, headers, ...sent })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return JSON.parse(text) as Answer
  }
}

/** A call that was recorded, to its end. */
async function recordedCall(api: Api, telephone: Telephone): Promise<string> {
  const document = { tenant_id: DEMO.tenantId, name: 'Demo Company', compliance: { record_calls: true } }
  await api.ask('PUT', `/admin/tenants/${DEMO.tenantId}`, document)
  const steps = [
    { say: 'Hello. What do you sell?' },
    { say: 'I would like six green garden chairs, please.' },
    { hang_up: true as const, after_agent_ms: 1_500 },
  ]
  return until(
    async () => {
      const { sid } = await telephone.ring({ from: CALLER, to: DEMO.phoneNumber, caller: { steps } })
      const over = await until(async () => ended(await telephone.look(sid)), {
        ...{ what: 'a recorded call to end', timeoutMs: TAKEN_WITHIN_MS, everyMs: 500 },
      })
      return over === 'completed' && sid
    },
    { what: 'a call to be taken', timeoutMs: TAKEN_WITHIN_MS, everyMs: 1_000 },
  )
}

const ended = ({ status }: TelephoneCall) =>
  ['completed', 'failed', 'busy', 'no-answer', 'canceled'].includes(status) && status

async function ringAndStay(api: Api, telephone: Telephone, said: string[]): Promise<string> {
  const { sid } = await telephone.ring({
    ...{ from: '+12025550123', to: DEMO.phoneNumber },
    caller: { steps: said.map((say) => ({ say })), stays: true },
  })
  return until(
    async () => {
      const { sessions } = await api.ask('GET', '/sessions/active')
      const session = sessions.find(({ call_sid }) => call_sid === sid)
      return session?.last_words ? session.stream_sid : null
    },
    { what: 'the live call', timeoutMs: TAKEN_WITHIN_MS, everyMs: 250 },
  )
}

/** Agents, tasks, numbers, people, a campaign: each with names that say what they are for. */
async function fill(api: Api, callSid: string): Promise<Omit<DemoService['ids'], 'call'>> {
  const tenant = `/admin/tenants/${DEMO.tenantId}`
  const { agents } = await api.ask('GET', `${tenant}/agents`)
  const agent = agents[0]?.id ?? ''
  for (const [agent_key, name] of [
    ['sales', 'Sasha'],
    ['service', 'Toni'],
  ]) {
    await api.ask('POST', `${tenant}/agents`, { agent_key, name, description: `Answers for ${agent_key}.` })
  }
  const config = {
    ...{ agent_name: 'Robin', greeting: 'Demo Company, this is Robin. What can I do for you?' },
    instructions: 'Answer questions about garden chairs. Offer a callback when you do not know an answer.',
  }
  const published = (await api.ask('POST', `${tenant}/agent-versions`, { agent_id: agent, config })).version.id
  await api.ask('POST', `${tenant}/agent-versions/${published}/publish`)
  const { versions } = await api.ask('GET', `${tenant}/agent-versions?agent_id=${agent}`)
  const before = versions.find(({ id, status }) => id !== published && status !== 'draft')?.id
  const entries = [{ agent_version_id: before, traffic_percentage: 25 }]
  if (before) await api.ask('PUT', `${tenant}/agents/${agent}/rollouts`, { entries })
  const greeting = 'Good day, Robin here. Which chair may it be?'
  const draft = (
    await api.ask('POST', `${tenant}/agent-versions`, { agent_id: agent, config: { ...config, greeting } })
  ).version.id

  const inMinutes = (minutes: number) => new Date(systemClock.now() + minutes * 60_000).toISOString()
  const task = (
    await api.ask('POST', '/callback-tasks', {
      ...{ customer_phone: CALLER, priority: 'urgent', call_sid: callSid, queue_key: 'sales' },
      ...{ summary: 'Wants six green garden chairs and a price for ten.', sla_due_at: inMinutes(25) },
    })
  ).task.id
  for (const [customer_phone, queue_key, summary, minutes] of [
    ['+12025550161', 'service', 'A chair came with a scratch; photos were promised.', -12],
    ['+12025550172', 'sales', 'Asks for a catalogue on paper.', 90],
    ['+12025550183', 'service', 'Cushions do not fit; wants to give them back.', 240],
  ] as const) {
    await api.ask('POST', '/callback-tasks', { customer_phone, queue_key, summary, sla_due_at: inMinutes(minutes) })
  }
  await api.ask('POST', '/dnc', { phone: '+12025550177', reason: 'Asked for it in a call.' })
  await api.ask('POST', `${tenant}/phone-routes`, {
    phone_number: '+12025550101',
    agent_key: 'front-desk',
    label: 'Shop',
  })
  await api.ask('POST', `${tenant}/users`, { email: 'grace@demo.example', name: 'Grace Lund', role: 'operator' })
  await api.ask('POST', `${tenant}/api-keys`, { label: 'Till' })
  await api.ask('PUT', '/admin/prompts/polite', { text: 'Be polite, and brief.', description: 'For every agent.' })
  const contacts = ['+12025550111', '+12025550112', '+12025550113'].map((phone) => ({
    phone,
    metadata: { consent: true },
  }))
  const campaign = (
    await api.ask('POST', '/campaigns', { name: 'Spring delivery dates', agent_key: 'front-desk', contacts })
  ).campaign.id
  await api.ask('POST', '/admin/analytics/sweep')
  return { agent, published, draft, task, campaign }
}
