import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { notSetUp } from '../kernel/errors.ts'
import { errorResponses, Ok, strict } from '../platform/http/schemas.ts'
import type { SweepCounts } from './deliverer.ts'
import { OUTBOX_TABLES, type OutboxStatus, type OutboxTable } from './outbox-store.ts'

const count = Type.Integer({ minimum: 0 })

const Depth = Type.Object({ table: Type.Enum(OUTBOX_TABLES), pending: count, delivered: count, failed: count })

const SweepQuery = strict({
  limit: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 10_000, default: 100, description: 'Due rows to claim and deliver.' }),
  ),
})

type Needs = {
  depth(table: OutboxTable): Promise<Record<OutboxStatus, number>>
  /** Null where no billing is set. */
  sweepBilling: ((limitRows: number) => Promise<SweepCounts>) | null
}

/** How full the outboxes are, and the sweep of the one for billing. */
export function outboxRoutes({ depth, sweepBilling }: Needs): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/api/v1/admin/outboxes/depth',
      {
        schema: {
          tags: ['admin'],
          summary: 'Count the rows of each outbox by status',
          operationId: 'getOutboxDepth',
          querystring: strict({}),
          response: { 200: Type.Object({ ok: Ok, count, depths: Type.Array(Depth) }), ...errorResponses },
        },
      },
      async () => {
        const depths = []
        for (const table of OUTBOX_TABLES) depths.push({ table, ...(await depth(table)) })
        return { ok: true as const, count: depths.length, depths }
      },
    )

    app.post(
      '/api/v1/admin/outboxes/billing-outcomes/sweep',
      {
        schema: {
          tags: ['admin'],
          summary: 'Deliver billing outcomes that are due',
          operationId: 'sweepBillingOutcomes',
          querystring: SweepQuery,
          response: {
            200: Type.Object({ ok: Ok, attempted: count, delivered: count, failed: count, rescheduled: count }),
            ...errorResponses,
          },
        },
      },
      async ({ query }) => {
        if (!sweepBilling) throw notSetUp('Billing outcomes go nowhere: set BILLING_WEBHOOK_URL.')
        return { ok: true as const, ...(await sweepBilling(query.limit ?? 100)) }
      },
    )
  }
}
