import { sql } from 'kysely'
import type { Role } from '../../src/kernel/actor.ts'
import { TestClock } from '../harness/clock.ts'
import type { TestDatabase } from '../harness/database.ts'
import { ServedApp } from '../harness/served-app.ts'
import { startWebhookTarget, type WebhookTarget } from '../harness/webhook-target.ts'
import { plantCalls } from './calls.ts'

export type Json = Record<string, unknown>
export type Answer = { status: number; body: Json; etag: string | null; isReplay: boolean }

/** Whoever asks. `tenant` and `role` are null for those who have none. */
export type Actor = {
  kind: 'administrator' | 'key' | 'person' | 'stranger'
  tenant: string | null
  role: Role | null
  name: string
  headers: Record<string, string>
}

/** A request, and the route as the table of roles has it. */
export type Asked = { route: string; path: string; body?: unknown; headers?: Record<string, string> }

/** A row of an outbox or of the audit log, as far as anybody is told of it. */
export type Written = {
  kind: 'event' | 'audit'
  tenant: string | null
  name: string
  body: Json
  target: string | null
}

export const TENANTS = ['acme', 'globex'] as const
const PASSWORD = 'a long enough password'

/** The service on an embedded database, with two tenants whose events go to a receiver, and people of each role. */
export class World {
  readonly served: ServedApp
  readonly clock: TestClock
  readonly actors: Actor[]
  readonly #test: TestDatabase
  readonly #target: WebhookTarget
  readonly #seen = new Set<string>()

  private constructor(parts: { served: ServedApp; clock: TestClock; test: TestDatabase; target: WebhookTarget }) {
    this.served = parts.served
    this.clock = parts.clock
    this.#test = parts.test
    this.#target = parts.target
    const administrator = { kind: 'administrator' as const, tenant: null, role: null, name: 'admin key' }
    this.actors = [{ ...administrator, headers: { 'x-admin-key': parts.served.adminKey } }]
  }

  static async start(test: TestDatabase): Promise<World> {
    const [clock, target] = [new TestClock(), await startWebhookTarget()]
    const settings = { ADMIN_USERNAME: 'ada', ADMIN_PASSWORD: PASSWORD, OUTBOUND_ALLOW_PRIVATE_NETWORKS: 'true' }
    const served = await ServedApp.start(test, { clock, settings, model: null })
    const world = new World({ served, clock, test, target })
    for (const [index, tenant] of TENANTS.entries()) {
      const document = { webhook: { url: target.url } }
      await served.furnish(tenant, { number: `+1202555014${index}`, document })
      const { body } = await world.read(null, `/admin/tenants/${tenant}/agent-versions`)
      const [version] = body['versions'] as { id: string }[]
      await plantCalls(test.db, tenant, { nowMs: clock.now(), versionId: version?.id ?? '' })
    }
    await world.#gather()
    await world.written()
    return world
  }

  async #gather(): Promise<void> {
    const { served, actors } = this
    const nobody = { tenant: null, role: null }
    actors.push({ kind: 'stranger', ...nobody, name: '', headers: {} })
    for (const tenant of TENANTS) {
      const headers = { authorization: `Bearer ${served.tokenOf(tenant)}` }
      actors.push({ kind: 'key', tenant, role: null, name: 'tenant key', headers })
      for (const role of tenant === 'acme' ? (['viewer', 'operator', 'admin'] as const) : (['admin'] as const)) {
        const name = `${role}@${tenant}.example`
        await served.administer('POST', `/tenants/${tenant}/users`, { email: name, role, password: PASSWORD })
        actors.push({ kind: 'person', tenant, role, name, headers: await this.#login(name) })
      }
    }
  }

  async #login(username: string): Promise<Record<string, string>> {
    const origin = this.served.address
    const response = await fetch(`${origin}/api/v1/admin/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin },
      body: JSON.stringify({ username, password: PASSWORD }),
    })
    const [cookie] = (response.headers.get('set-cookie') ?? '').split(';')
    if (response.status !== 200 || !cookie) throw new Error(`${username} could not log in: ${response.status}`)
    return { cookie, origin }
  }

  administrator(): Actor {
    return this.actors[0] as Actor
  }

  async ask(actor: Actor, { route, path, body, headers = {} }: Asked): Promise<Answer> {
    const [method = ''] = route.split(' ')
    const isText = typeof body === 'string'
    const type = isText ? 'text/csv' : 'application/json'
    const sent = body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }
    const response = await fetch(`${this.served.address}/api/v1${path}`, {
      method,
      headers: { ...actor.headers, ...(body === undefined ? {} : { 'content-type': type }), ...headers },
      ...sent,
    })
    const text = await response.text()
    return {
      status: response.status,
      body: text.startsWith('{') ? (JSON.parse(text) as Json) : { text },
      etag: response.headers.get('etag'),
      isReplay: response.headers.has('idempotent-replayed'),
    }
  }

  /** Asks the administrator's part for something. */
  administer(method: 'POST' | 'PUT', path: string): Promise<unknown> {
    return this.served.administer(method, path)
  }

  /** A read, as the administrator or with the key of a tenant. */
  async read(tenant: string | null, path: string): Promise<Answer> {
    const actor = this.actors.find((each) =>
      tenant === null ? each === this.actors[0] : each.kind === 'key' && each.tenant === tenant,
    )
    return this.ask(actor as Actor, { route: 'GET', path })
  }

  /** What was written down since it was asked last: events and rows of the audit log. */
  async written(): Promise<Written[]> {
    const { rows } = await sql<Written & { id: string }>`
      select id::text, 'event' as kind, tenant_id as tenant, event as name, body::jsonb, null as target from webhook_outbox
      union all
      select id::text, 'audit', tenant_id, action, jsonb_build_object('actor', actor, 'before', before, 'after', after), target_id
        from audit_log where action not like 'session.%'
      `.execute(this.#test.db)
    const fresh = rows.filter(({ id }) => !this.#seen.has(id))
    for (const { id } of fresh) this.#seen.add(id)
    return fresh
  }

  async close(): Promise<void> {
    await this.served.app.close()
    await this.#target.close()
  }
}
