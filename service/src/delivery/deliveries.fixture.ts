import { onTestFinished } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { until } from '../../test/harness/wait.ts'
import { startWebhookTarget, type WebhookTarget } from '../../test/harness/webhook-target.ts'
import type { TenantId } from '../kernel/ids.ts'
import { makeBus } from '../platform/bus/bus.ts'
import { memoryWire } from '../platform/bus/memory.ts'
import type { Db } from '../platform/db/schema.ts'
import { makeLog } from '../platform/log.ts'
import { makeOutbound } from '../platform/outbound/outbound.ts'
import { NO_ACCOUNT } from '../tenancy/no-account.fixture.ts'
import { toRuntime } from '../tenancy/tenant-defaults.ts'
import { EVENT_NAMES } from '../tenancy/tenant-events.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { Deliverer } from './deliverer.ts'
import { enqueue, type NewEvent } from './enqueue.ts'
import { makeSendWebhook } from './send-webhook.ts'

const SECRET = `whsec_${Buffer.alloc(24, 5).toString('base64')}`

/** A row as tests look at it. */
export type StoredDelivery = {
  id: string
  status: string
  attempts: number
  due_at: Date
  last_status_code: number | null
  last_error: string | null
  delivered_at: Date | null
  claim_token: string | null
  attempt_log: { at: string; status_code: number | null; error: string | null; duration_ms: number }[]
}

/** Targets, tenants that have them as their webhook, and as many deliverers on one database as a test starts. */
export class DeliveryStage {
  readonly clock = new TestClock()
  readonly lines: { level: string; msg: string }[] = []
  readonly disabled: string[] = []
  readonly tenants = new Map<string, TenantRuntime>()
  /** Tenants cannot be read, for a reason of ours. */
  isAtFault = false
  readonly #db: () => Db
  readonly #wire = memoryWire()

  constructor(db: () => Db) {
    this.#db = db
  }

  async target(): Promise<WebhookTarget> {
    const target = await startWebhookTarget()
    onTestFinished(() => target.close())
    return target
  }

  /** Tells the tenant at this address from now on; nothing when it is null. */
  tell(id: string, url: string | null, webhook: Record<string, unknown> = {}): TenantRuntime {
    const all = url === null ? null : { url, secret: SECRET, events: [...EVENT_NAMES], ...webhook }
    const tenant = toRuntime({ tenant_id: id as TenantId, webhook: all }, NO_ACCOUNT)
    this.tenants.set(id, tenant)
    return tenant
  }

  /** A process that delivers, not yet started; it is closed with the test. */
  deliverer({ db = this.#db(), perTenant = 4, total = 100, isAlone = false } = {}): Deliverer {
    const { clock } = this
    const log = makeLog({
      level: 'info',
      secrets: [],
      destination: { write: (line) => this.lines.push(JSON.parse(line)) },
    })
    const bus = makeBus({ wire: this.#wire, clock, log, onDropped: () => undefined })
    const send = makeSendWebhook({
      ...{ clock, log, outbound: makeOutbound({ clock, allowPrivate: true }) },
      tenants: { get: async (tenantId) => this.#read(tenantId) },
      disableWebhook: async (tenantId, url) => void this.disabled.push(`${tenantId} ${url}`),
    })
    const deliverer = new Deliverer({
      ...{ db, clock, log, bus, table: 'webhook_outbox', send, count: () => undefined, chance: () => 0 },
      ...{ lanes: { perTenant, total }, isAlone },
    })
    onTestFinished(async () => {
      const closed = deliverer.close()
      await this.clock.advance(2_000)
      await closed
      bus.close()
    })
    return deliverer
  }

  #read(tenantId: string): TenantRuntime | null {
    if (this.isAtFault) throw new Error('the tenant cannot be read')
    return this.tenants.get(tenantId) ?? null
  }

  /** Something happened that the tenant is told. */
  async happens(id: string, events: NewEvent[], db = this.#db()): Promise<void> {
    const tenant = this.tenants.get(id)
    if (!tenant) throw new Error(`nobody is ${id}`)
    await db.transaction().execute((tx) => enqueue(tx, tenant, events, new Date(this.clock.now())))
  }

  rows(tenantId = 'acme'): Promise<StoredDelivery[]> {
    return this.#db()
      .selectFrom('webhook_outbox')
      .select(['id', 'status', 'attempts', 'due_at', 'last_status_code', 'last_error'])
      .select(['delivered_at', 'claim_token', 'attempt_log'])
      .where('tenant_id', '=', tenantId as TenantId)
      .orderBy('created_at')
      .orderBy('sequence')
      .orderBy('id')
      .execute()
  }

  /** Waits until every row of the tenant is so. */
  async all(what: string, isSo: (row: StoredDelivery) => boolean, tenantId = 'acme'): Promise<StoredDelivery[]> {
    return until(
      async () => {
        const rows = await this.rows(tenantId)
        return rows.length > 0 && rows.every(isSo) && rows
      },
      { what: `all to be ${what}` },
    )
  }

  /** Waits until attempt number so many of the one row was written down. */
  async settled(attempts: number, tenantId = 'acme'): Promise<StoredDelivery> {
    const rows = await this.all(
      `settled ${attempts} times`,
      (row) => row.attempts >= attempts && row.claim_token === null,
      tenantId,
    )
    const [row] = rows
    if (!row) throw new Error('there is a row')
    return row
  }
}

/** An event of a call. */
export function ofCall(callSid: string, n = 1): NewEvent {
  const subject = { callSid, sessionId: '0190a000-0000-7000-8000-000000000001' }
  return { event: 'voice.call.started', subject, payload: { n } }
}
