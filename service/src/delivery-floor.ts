import { Counter } from 'prom-client'
import type { AttemptEnd } from './delivery/attempts.ts'
import { depthAcrossTenants, waitingAcrossTenants } from './delivery/claim-store.ts'
import { Deliverer } from './delivery/deliverer.ts'
import { makeDeliveries } from './delivery/deliveries.ts'
import { adminDeliveryRoutes, deliveryRoutes } from './delivery/delivery-routes.ts'
import { makeNotify } from './delivery/notify.ts'
import { operatorOutboxRoutes } from './delivery/operator-outbox-routes.ts'
import { makeOperatorOutboxes } from './delivery/operator-outboxes.ts'
import { MOST_COUNTED, makeOutboxMetrics } from './delivery/outbox-metrics.ts'
import { outboxRoutes } from './delivery/outbox-routes.ts'
import type { OutboxTable } from './delivery/outbox-store.ts'
import { makeSendBilling } from './delivery/send-billing.ts'
import { makeSendMail } from './delivery/send-mail.ts'
import { makeSendWebhook } from './delivery/send-webhook.ts'
import type { Deps } from './deps.ts'
import type { TenantId } from './kernel/ids.ts'
import { makeOutbound } from './platform/outbound/outbound.ts'
import { expectTenant } from './tenancy/known-tenant.ts'
import type { TenantRuntime } from './tenancy/tenant-runtime.ts'
import { makeDisableWebhook } from './tenancy/webhook-disabling.ts'

type Needs = {
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  changes: { changed(tenantId: TenantId): void }
}

/** Attempts at a time, in this process. A webhook is one address each; billing and mail are one for all. */
const WEBHOOK_LANES = { perTenant: 4, total: 400 }
const BILLING_LANES = { perTenant: 16, total: 16 }
/** All go to one server, which may mind. */
const MAIL_LANES = { perTenant: 2, total: 4 }

/** Wires the floor `delivery`: what is sent to tenants, to billing and by mail, and the lists of it. */
export function makeDelivery(deps: Deps, { tenants, changes }: Needs) {
  const { config, clock, log, sealer, metrics, cluster, mailer, outbound } = deps
  const { db } = deps.database
  // The operator's own address may be in the operator's own network.
  const trusted = makeOutbound({ clock, allowPrivate: true })
  const counts = new Counter({
    name: 'outbox_attempts_total',
    help: 'Attempts to deliver what stands in an outbox, by how they ended.',
    labelNames: ['table', 'end'],
    registers: [metrics.registry],
  })
  makeOutboxMetrics(metrics.registry, { clock, waiting: () => waitingAcrossTenants(db, MOST_COUNTED) })
  const of = (table: OutboxTable) => ({
    ...{ db, clock, log, bus: cluster.bus, table, isAlone: deps.database.kind !== 'server' },
    count: (end: AttemptEnd) => counts.inc({ table, end }),
  })
  const disableWebhook = makeDisableWebhook({ db, clock, sealer, onChange: changes.changed })
  const send = makeSendWebhook({ clock, log, outbound, tenants, disableWebhook })
  const webhooks = new Deliverer({ ...of('webhook_outbox'), send, lanes: WEBHOOK_LANES })
  const target = billingTarget(deps)
  const billing =
    target === null
      ? null
      : new Deliverer({
          ...of('billing_outbox'),
          send: makeSendBilling({ clock, outbound: trusted, target }),
          lanes: BILLING_LANES,
        })
  const mails =
    mailer === null
      ? null
      : new Deliverer({
          ...of('notification_outbox'),
          send: makeSendMail({ mailer, log }),
          lanes: MAIL_LANES,
        })
  const deliveries = makeDeliveries({ db, clock })
  return {
    /** Has people told by mail. */
    notify: makeNotify({ recipients: mailer === null ? null : config.notifyTo }),
    tenantRoutes: deliveryRoutes(deliveries),
    adminRoutes: adminDeliveryRoutes(deliveries, (tenantId) => expectTenant(db, tenantId)),
    operatorOutboxRoutes: operatorOutboxRoutes(makeOperatorOutboxes({ db, clock }), {
      billing_outbox: billing !== null,
      notification_outbox: mails !== null,
    }),
    outboxRoutes: outboxRoutes({
      depth: (table) => depthAcrossTenants(db, table),
      sweepBilling: billing && ((limitRows) => billing.sweep(limitRows)),
    }),
    async start() {
      await Promise.all([webhooks.start(), billing?.start(), mails?.start()])
    },
    async close() {
      await Promise.all([webhooks.close(), billing?.close(), mails?.close()])
    },
  }
}

/** What the rest of the service needs of this floor. */
export type Delivery = ReturnType<typeof makeDelivery>

/** Where billing outcomes are posted to, if anywhere. Whoever takes them unsigned takes anybody's. */
function billingTarget({ config: { billingUrl: url, billingSecret, standby }, log }: Pick<Deps, 'config' | 'log'>) {
  if (url === null) return null
  if (billingSecret !== null) return { url, secrets: [billingSecret] }
  if (!standby) log.warn({}, 'billing outcomes are posted unsigned: set BILLING_WEBHOOK_SECRET')
  return { url, secrets: [] }
}
