import type { ServedApp } from '../harness/served-app.ts'
import { type Caller, OWN } from './callers.ts'

/** Nobody has it. */
const UNKNOWN_ID = '0190b2a4-6c1e-7f00-8a3b-5d9e1c2f4a60'

/** What there is once for all requests. */
export type Lasting = {
  agentId: string
  streamSid: string
  callSid: string
  recordedSessionId: string
  number: string
  tool: string
  /** Makes another session that is over. */
  makeEnded(): Promise<string>
  /** Makes another simulation whose runs are over, and which is not. */
  makeSimulation(): Promise<{ id: string; runId: string }>
}

/** A number of the range that is kept for fiction, another one for each count. */
export function numberOf(count: number): string {
  return `+1202555${String(1_000 + count)}`
}

type Row = (route: string, caller: Caller) => Promise<string> | string
type Body = (caller: Caller) => unknown

/** What a simulation is asked for with. */
export const SIMULATION = {
  agent_key: 'desk',
  scenarios: [{ name: 'Hours', caller: { steps: [{ say: 'Are you open?' }] } }],
}

/** In which state a task has to be to be moved so, when that is not `open`. */
const BEFORE: Record<string, string[]> = { release: ['claim'], wake: ['snooze'], reopen: ['complete'] }
const MOVES: Record<string, object> = {
  claim: {},
  snooze: { until: '2031-01-01T00:00:00.000Z' },
  complete: { disposition: 'resolved' },
}
const TENANT = '/api/v1/admin/tenants/:tenant_id'

/** Real rows of the tenant `acme`, a new one for each request that needs it, and bodies that name such rows. */
export class FreshRows {
  readonly #served: ServedApp
  readonly #lasting: Lasting
  #count = 10
  #runId = UNKNOWN_ID

  constructor(served: ServedApp, lasting: Lasting) {
    this.#served = served
    this.#lasting = lasting
  }

  /** The path with a row for each of its parameters. @throws Error for one of which it is not known how to make a row. */
  async fill(route: string, url: string, caller: Caller): Promise<string> {
    const names = [...url.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
    let path = url
    for (const name of names) {
      const row = this.#rowOf(route, url, name)
      if (!row) throw new Error(`say in fresh-rows.ts what :${name} of ${route} is`)
      path = path.replace(`:${name}`, encodeURIComponent(await row(route, caller)))
    }
    return path
  }

  /** What to send where the example of the description does not do; undefined where it does. */
  async body(route: string, caller: Caller): Promise<unknown> {
    return this.#bodies[route]?.(caller)
  }

  #next(): number {
    this.#count += 1
    return this.#count
  }

  #rowOf(route: string, url: string, name: string): Row | undefined {
    const own = Object.entries(this.#rows).filter(([place]) => place.endsWith(`:${name}`) || place === name)
    const [, row] =
      own.toSorted(([a], [b]) => b.length - a.length).find(([place]) => url.includes(place) || place === name) ?? []
    return route === `DELETE ${TENANT}` ? this.#rows['a tenant to be deleted'] : row
  }

  /** By the name of the parameter, or a part of the path that ends with it. */
  readonly #rows: Record<string, Row> = {
    tenant_id: () => OWN,
    'a tenant to be deleted': async (_route, { what }) => {
      const id = what === 'administrator' ? `gone-${this.#next()}` : OWN
      if (id !== OWN) await this.#served.administer('PUT', `/tenants/${id}`, { tenant_id: id })
      return id
    },
    agent_id: () => this.#lasting.agentId,
    version_id: async () => {
      const body = { agent_id: this.#lasting.agentId, config: {} }
      return (await this.#made<{ version: { id: string } }>('agent-versions', body)).version.id
    },
    user_id: async () => (await this.#made<{ user: { id: string } }>('users', this.#person())).user.id,
    key_id: async () =>
      (await this.#made<{ created: { api_key: { id: string } } }>('api-keys', { label: 'x' })).created.api_key.id,
    route_id: async () =>
      (await this.#made<{ phone_route: { id: string } }>('phone-routes', this.#route())).phone_route.id,
    queue_key: async (route) => {
      const key = `queue-${this.#next()}`
      if (route.startsWith('DELETE')) await this.#served.administer('PUT', `/tenants/${OWN}/operator-queues/${key}`, {})
      return key
    },
    outbox: () => 'billing-outcomes',
    key: async () => {
      const key = `prompt-${this.#next()}`
      await this.#served.administer('PUT', `/prompts/${key}`, { text: 'Be brief.' })
      return key
    },
    '/api-access-requests/:id': async () => {
      const asked = {
        company_name: 'Umbrella',
        contact_name: 'Ann',
        work_email: 'ann@umbrella.example',
        use_case: 'Calls',
      }
      const { body } = await this.#served.call<{ request_id: string }>(null, 'POST', '/access-requests', asked)
      return body.request_id
    },
    '/voice-sessions/:id': (route) =>
      route.startsWith('DELETE') ? this.#lasting.makeEnded() : this.#lasting.recordedSessionId,
    '/erasures/:id': async () => {
      const asked = { phone: numberOf(this.#next()) }
      const { body } = await this.#served.call<{ erasure: { id: string } }>(OWN, 'POST', '/erasures', asked)
      return body.erasure.id
    },
    '/campaigns/:id': (route) => this.#campaign(route),
    '/simulations/:id': async () => {
      const { id, runId } = await this.#lasting.makeSimulation()
      this.#runId = runId
      return id
    },
    // Of the simulation before it in the path.
    run_id: () => this.#runId,
    name: () => this.#lasting.tool,
    '/callback-tasks/:id': (route, caller) => this.#task(route.split('/').at(-1) ?? '', caller),
    call_sid: (route) => (route.endsWith('/cancel') ? this.#placed() : this.#lasting.callSid),
    stream_sid: () => this.#lasting.streamSid,
    phone: async () => {
      const phone = numberOf(this.#next())
      await this.#served.call(OWN, 'POST', '/dnc', { phone })
      return phone
    },
    dial_ref: () => 'x'.repeat(32),
    token: () => 'wrong',
    page: () => 'errors',
    file: () => 'nothing.js',
  }

  readonly #bodies: Record<string, Body> = {
    'POST /api/v1/make-call': (caller) => ({ to: numberOf(this.#next()), ...this.#speaker(caller) }),
    'POST /api/v1/dial-check': (caller) => ({ to: numberOf(this.#next()), ...this.#speaker(caller) }),
    'POST /api/v1/browser-calls': () => ({ agent_key: 'desk' }),
    'POST /api/v1/chats': () => ({ agent_key: 'desk', messages: [{ role: 'caller', text: 'Are you open?' }] }),
    'POST /api/v1/campaigns': () => this.#wanted(),
    'POST /api/v1/simulations': () => SIMULATION,
    'POST /api/v1/tools/:name/test': () => ({ arguments: {} }),
    'POST /api/v1/dnc': () => ({ phone: numberOf(this.#next()) }),
    'POST /api/v1/erasures': () => ({ phone: numberOf(this.#next()) }),
    'POST /api/v1/sessions/:stream_sid/actions': () => ({ action: 'note', note: 'Seen.' }),
    'POST /api/v1/callback-tasks/:id/snooze': () => MOVES['snooze'],
    'POST /api/v1/webhook-deliveries': () => ({ ids: [UNKNOWN_ID] }),
    'POST /api/v1/admin/auth/login': () => ({ username: 'viewer@acme.example', password: 'a long enough password' }),
    'POST /api/v1/voice-sessions/:id/evaluations': () => ({ score: 0.9 }),
    [`PUT ${TENANT}`]: async () => {
      const { config } = await this.#served.administer<{ config: object }>('GET', `/tenants/${OWN}`)
      return config
    },
    [`PUT ${TENANT}/runtime-config`]: () => ({ voice: 'cedar' }),
    [`POST ${TENANT}/agents`]: () => ({ agent_key: `agent-${this.#next()}`, name: 'Other', description: '' }),
    [`PATCH ${TENANT}/agents/:agent_id`]: () => ({ description: 'Answers.' }),
    [`POST ${TENANT}/agent-versions`]: () => ({ agent_id: this.#lasting.agentId, config: {} }),
    [`PUT ${TENANT}/agents/:agent_id/rollouts`]: () => ({ entries: [] }),
    [`POST ${TENANT}/users`]: () => this.#person(),
    [`PATCH ${TENANT}/users/:user_id`]: () => ({ name: 'Hopper' }),
    // People take a number that its carrier has for the tenant.
    [`POST ${TENANT}/phone-routes`]: () => ({ ...this.#route(), configure_carrier: true }),
    [`PUT ${TENANT}/phone-routes/:route_id`]: () => ({ ...this.#route(), configure_carrier: true }),
    [`POST ${TENANT}/webhook-deliveries`]: () => ({ ids: [UNKNOWN_ID] }),
  }

  #made<Answer>(what: string, body: unknown): Promise<Answer> {
    return this.#served.administer<Answer>('POST', `/tenants/${OWN}/${what}`, body)
  }

  /** Invited, because to hash a password takes its time. */
  #person() {
    return { email: `person-${this.#next()}@acme.example`, role: 'viewer' }
  }

  #route() {
    return { phone_number: numberOf(this.#next()), agent_key: 'desk' }
  }

  /** One that calls nobody while it is looked at. */
  #wanted() {
    const contacts = [{ phone: numberOf(this.#next()) }]
    return { name: 'Spring', agent_key: 'desk', contacts, start_at: '2040-01-01T00:00:00.000Z' }
  }

  async #campaign(route: string): Promise<string> {
    const made = await this.#served.call<{ campaign: { id: string } }>(OWN, 'POST', '/campaigns', this.#wanted())
    const { id } = made.body.campaign
    if (route.endsWith('/pause')) await this.#served.call(OWN, 'POST', `/campaigns/${id}/start`)
    return id
  }

  async #placed(): Promise<string> {
    const call = { to: numberOf(this.#next()), from: this.#lasting.number, agent_key: 'desk' }
    return (await this.#served.call<{ call_sid: string }>(OWN, 'POST', '/make-call', call)).body.call_sid
  }

  /** Each tenant calls from its own number. */
  #speaker({ tenant }: Caller) {
    return { agent_key: 'desk', ...(tenant === OWN && { from: this.#lasting.number }) }
  }

  async #task(move: string, { name }: Caller): Promise<string> {
    const made = { customer_phone: numberOf(this.#next()) }
    const { body } = await this.#served.call<{ task: { id: string } }>(OWN, 'POST', '/callback-tasks', made)
    for (const before of BEFORE[move] ?? []) {
      const sent = { ...MOVES[before], operator: name }
      const { status } = await this.#served.call(OWN, 'POST', `/callback-tasks/${body.task.id}/${before}`, sent)
      if (status !== 200) throw new Error(`${before}: ${status}`)
    }
    return body.task.id
  }
}
