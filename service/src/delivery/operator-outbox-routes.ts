import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { invalidRequest, notSetUp } from '../kernel/errors.ts'
import { readPage } from '../kernel/pages.ts'
import { actorOf } from '../platform/http/guards.ts'
import {
  dateOf,
  errorResponses,
  instantFilter,
  listBody,
  listResponse,
  longRowsPageFields,
  nullable,
  strict,
} from '../platform/http/schemas.ts'
import { Requeued } from './delivery-query.ts'
import { Delivery, maskDeliveries } from './delivery-shape.ts'
import type { OperatorOutbox, OutboxFilter } from './delivery-store.ts'
import type { OperatorOutboxes } from './operator-outboxes.ts'
import { OUTBOX_STATUSES, type OutboxStatus } from './outbox-store.ts'

const PATH = '/api/v1/admin/outboxes/:outbox/deliveries'
const TABLES = { 'billing-outcomes': 'billing_outbox', notifications: 'notification_outbox' } as const
const NOT_SET_UP: Record<OperatorOutbox, string> = {
  billing_outbox: 'Billing outcomes go nowhere: set BILLING_WEBHOOK_URL.',
  notification_outbox: 'Mails go nowhere: set NOTIFY_SMTP_URL.',
}

const Params = strict({ outbox: Type.Enum(Object.keys(TABLES) as (keyof typeof TABLES)[]) })

const filterFields = {
  status: Type.Optional(Type.Enum(OUTBOX_STATUSES, { description: 'Default: failed.' })),
  from: instantFilter('When it happened. Inclusive.'),
  to: instantFilter('Exclusive.'),
}

const Query = strict({ ...longRowsPageFields, ...filterFields })

const Body = strict({
  ids: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
      minItems: 1,
      maxItems: 500,
      description: 'Of what the others find these alone. Ids that are not known are ignored.',
    }),
  ),
  ...filterFields,
})

const OutboxDelivery = Type.Object({
  tenant_id: nullable(Type.String({ description: 'Null: of no tenant.' })),
  ...Delivery.properties,
})

/**
 * What was or is to be sent to the operator's billing and by mail: what could tell who somebody is is masked.
 *
 * @param isSetUp whether what stands in an outbox goes anywhere.
 */
export function operatorOutboxRoutes(
  outboxes: OperatorOutboxes,
  isSetUp: Record<OperatorOutbox, boolean>,
): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      PATH,
      {
        schema: {
          tags: ['admin'],
          summary: 'List what was or is to be sent to billing or by mail, newest first',
          description: 'Of mails the body is the subject and to whom: what stands in them may let somebody in.',
          operationId: 'listOutboxDeliveries',
          params: Params,
          querystring: Query,
          response: { 200: listResponse('outbox_deliveries', OutboxDelivery), ...errorResponses },
        },
      },
      async ({ params, query }) => {
        const page = await outboxes.list(TABLES[params.outbox], readFilter(query), readPage(query))
        return listBody(
          'outbox_deliveries',
          await maskDeliveries<Static<typeof OutboxDelivery>>(page.json),
          page.nextCursor,
        )
      },
    )

    app.post(
      PATH,
      {
        schema: {
          tags: ['admin'],
          summary: 'Send to billing, or by mail, again what was given up: the same ids, the same bodies',
          operationId: 'redeliverOutbox',
          params: Params,
          body: Body,
          response: { 200: Requeued, ...errorResponses },
        },
      },
      async (request) => {
        const { body, params } = request
        if (Object.keys(body).length === 0)
          throw invalidRequest([{ path: '/body', message: 'must name ids, or a status, from or to' }])
        const table = TABLES[params.outbox]
        if (!isSetUp[table]) throw notSetUp(NOT_SET_UP[table])
        const requeued = await outboxes.redeliver(table, readFilter(body), actorOf(request))
        return { ok: true as const, requeued }
      },
    )
  }
}

type Fields = { ids?: string[]; status?: OutboxStatus; from?: string; to?: string }

function readFilter({ ids, status = 'failed', from, to }: Fields): OutboxFilter {
  return { ids, status, from: dateOf(from), to: dateOf(to) }
}
