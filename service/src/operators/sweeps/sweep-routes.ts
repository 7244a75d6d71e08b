import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { strict } from '../../platform/http/schemas.ts'
import { takeNothing } from '../../platform/http/take-nothing.ts'
import { type TenantByToken, TokenFilter } from '../../tenancy/token-filter.ts'
import type { DispatchAsk, DispatchSweepResult } from './dispatch-sweep.ts'
import type { FollowUpAsk, FollowUpSweepResult } from './follow-up-sweep.ts'
import type { SlaSweepResult } from './sla-sweep.ts'
import type { SweepAsk } from './sweep-run.ts'
import {
  optionalCount,
  optionalInstant,
  optionalText,
  optionalTextOrNull,
  readSweep,
  sweepFields,
  sweepResponse,
} from './sweep-shape.ts'
import type { TicketAsk, TicketSweepResult } from './ticket-sweep.ts'

/** The sweeps over what operators work on. */
export type Sweeps = {
  sla(ask: SweepAsk): Promise<SlaSweepResult>
  followUps(ask: FollowUpAsk): Promise<FollowUpSweepResult>
  dispatches(ask: DispatchAsk): Promise<DispatchSweepResult>
  tickets(ask: TicketAsk): Promise<TicketSweepResult>
}

const SLA = sweepResponse({
  outcomes: ['alerted', 'already_alerted'],
  counts: ['overdue_tasks', 'alerts_recorded', 'webhooks_enqueued'],
  item: { sla_due_at: optionalInstant },
})

const FOLLOW_UPS = sweepResponse({
  outcomes: ['woken', 'reminded', 'escalated'],
  counts: ['candidate_tasks', 'snoozes_expired', 'notifications_sent', 'escalations_applied', 'webhooks_enqueued'],
  item: {
    snoozed_until: optionalInstant,
    assigned_to: optionalTextOrNull,
    priority: optionalText,
    escalation_target: optionalTextOrNull,
  },
})

const DISPATCHES = sweepResponse({
  outcomes: ['dispatched', 'dry_run', 'refused', 'no_agent'],
  counts: ['eligible_tasks', 'dispatched_tasks', 'dry_run_tasks', 'webhooks_enqueued'],
  item: { call_sid: optionalTextOrNull, attempt: optionalCount, code: optionalText, reason: optionalText },
})

const TICKETS = sweepResponse({
  outcomes: ['reconciled', 'reopened', 'unchanged', 'ticket_missing'],
  counts: ['candidate_tasks', 'reconciled_tasks', 'unchanged_tasks', 'webhooks_enqueued'],
  item: { ticket_id: optionalText, ticket_status: optionalText },
})

const send_notifications = Type.Optional(
  Type.Boolean({ default: true, description: 'False: nobody is told, and everything is noted as if they were.' }),
)
const dry_run = Type.Optional(
  Type.Boolean({ default: false, description: 'Whether to tell what would be done, and do nothing.' }),
)

type Needs = { sweeps: Sweeps; tenantBy: TenantByToken }

/** What otherwise happens by itself every SWEEP_INTERVAL_SECONDS, now, for administrators. */
export function sweepRoutes({ sweeps, tenantBy }: Needs): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post(
      '/api/v1/admin/operator-queues/sweep',
      {
        preValidation: takeNothing,
        schema: {
          tags: ['admin'],
          summary: 'Find callback tasks that were not done in time, and alert once for each',
          operationId: 'sweepOperatorQueues',
          querystring: strict(sweepFields),
          body: TokenFilter,
          response: SLA,
        },
      },
      async (request) => ({ ok: true as const, result: await sweeps.sla(await readSweep(request, tenantBy)) }),
    )

    app.post(
      '/api/v1/admin/operator-queues/follow-up-notifications/sweep',
      {
        preValidation: takeNothing,
        schema: {
          tags: ['admin'],
          summary: 'Wake tasks that were put off, remind operators of theirs, escalate what is far too late',
          operationId: 'sweepFollowUps',
          querystring: strict({ ...sweepFields, send_notifications }),
          body: TokenFilter,
          response: FOLLOW_UPS,
        },
      },
      async (request) => {
        const { send_notifications: sendNotifications = true } = request.query
        const ask = { ...(await readSweep(request, tenantBy)), sendNotifications }
        return { ok: true as const, result: await sweeps.followUps(ask) }
      },
    )

    app.post(
      '/api/v1/admin/operator-queues/dispatch',
      {
        preValidation: takeNothing,
        schema: {
          tags: ['admin'],
          summary: 'Have agents call for the tasks of the queues that are set to do so',
          operationId: 'dispatchOperatorQueues',
          querystring: strict({ ...sweepFields, dry_run }),
          body: TokenFilter,
          response: DISPATCHES,
        },
      },
      async (request) => {
        const { dry_run: isDryRun = false } = request.query
        const ask = { ...(await readSweep(request, tenantBy)), isDryRun }
        return { ok: true as const, result: await sweeps.dispatches(ask) }
      },
    )

    app.post(
      '/api/v1/admin/operator-queues/external-reconciliation/sweep',
      {
        preValidation: takeNothing,
        schema: {
          tags: ['admin'],
          summary: 'Have callback tasks follow the tickets that they name',
          operationId: 'reconcileTickets',
          querystring: strict(sweepFields),
          body: TokenFilter,
          response: TICKETS,
        },
      },
      async (request) => {
        const ask = { ...(await readSweep(request, tenantBy)), minAgeMs: 0 }
        return { ok: true as const, result: await sweeps.tickets(ask) }
      },
    )
  }
}
