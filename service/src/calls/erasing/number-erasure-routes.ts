import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { TENANT_KEY } from '../../kernel/actor.ts'
import { readPage } from '../../kernel/pages.ts'
import { knownActorOf, tenantOf } from '../../platform/http/guards.ts'
import {
  AnyId,
  errorResponses,
  iso,
  isoOrNull,
  listBody,
  listResponse,
  nullable,
  Ok,
  PageQuery,
  strict,
  Timestamp,
} from '../../platform/http/schemas.ts'
import { CallableNumber } from '../../tenancy/tenant-values.ts'
import type { NumberErasures } from './erase-number.ts'
import type { NumberErasureRow } from './number-erasure-store.ts'

const Body = strict({ phone: CallableNumber })
const Params = strict({ id: AnyId })

const count = (description: string) => Type.Integer({ minimum: 0, description })

const Counts = Type.Object({
  voice_sessions: count('Sessions of its calls, with all that hangs on them.'),
  transcript_turns: count('What was said in them.'),
  function_calls: count('What tools were asked in them, and answered.'),
  recording_parts: count('Their audio: one for each stream.'),
  call_logs: count('Logs of its calls: without the number and words, they stay.'),
  callback_tasks: count('Tasks to call it: deleted with their history.'),
  campaign_contacts: count('Places on the lists of campaigns: deleted.'),
  supervisor_actions: count('Interventions in its calls: without their words, they stay.'),
  deliveries: count('Webhook events of its calls and tasks, sent or not.'),
  idempotency_keys: count('Answers kept for requests that are repeated.'),
  mentions: count('Other rows that it was written in: without the number, they stay.'),
})

const NumberErasure = Type.Object({
  id: Type.String(),
  status: Type.Enum(['pending', 'completed']),
  phone: Type.String({ description: 'Its last four digits.' }),
  phone_hash: Type.String({
    description: 'Keyed: the same for the same number of the tenant, until ENCRYPTION_KEY is changed.',
  }),
  requested_by: Type.String(),
  created_at: Timestamp,
  completed_at: nullable(Timestamp),
  counts: Counts,
})

const Answer = Type.Object({ ok: Ok, erasure: NumberErasure })

/** Erasure of what is kept of a number. To be registered behind `tenantGuard`. */
export function numberErasureRoutes(erasures: NumberErasures): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post(
      '/api/v1/erasures',
      {
        schema: {
          tags: ['runtime'],
          summary: 'Erase all that is kept of a telephone number: calls, words, audio, tasks, contacts, mentions',
          operationId: 'eraseNumber',
          body: Body,
          response: { 200: Answer, ...errorResponses },
        },
      },
      async (request) => {
        const by = knownActorOf(request) ?? TENANT_KEY
        return { ok: true as const, erasure: show(await erasures.request(tenantOf(request), request.body.phone, by)) }
      },
    )

    app.get(
      '/api/v1/erasures',
      {
        schema: {
          tags: ['runtime'],
          summary: 'List the receipts of erased numbers, newest first',
          operationId: 'listNumberErasures',
          querystring: PageQuery,
          response: { 200: listResponse('erasures', NumberErasure), ...errorResponses },
        },
      },
      async (request) => {
        const { rows, nextCursor } = await erasures.list(tenantOf(request), readPage(request.query))
        return listBody('erasures', rows.map(show), nextCursor)
      },
    )

    app.get(
      '/api/v1/erasures/:id',
      {
        schema: {
          tags: ['runtime'],
          summary: 'Read the receipt of an erased number',
          operationId: 'getNumberErasure',
          params: Params,
          response: { 200: Answer, ...errorResponses },
        },
      },
      async (request) => ({
        ok: true as const,
        erasure: show(await erasures.get(tenantOf(request), request.params.id)),
      }),
    )
  }
}

function show(row: NumberErasureRow): Static<typeof NumberErasure> {
  const { counts } = row
  return {
    id: row.id,
    status: row.completed_at === null ? 'pending' : 'completed',
    phone: row.phone_masked,
    phone_hash: row.phone_hash,
    requested_by: row.actor,
    created_at: iso(row.created_at),
    completed_at: isoOrNull(row.completed_at),
    counts: {
      voice_sessions: counts.voice_sessions ?? 0,
      transcript_turns: counts.transcript_turns ?? 0,
      function_calls: counts.function_calls ?? 0,
      recording_parts: counts.recording_parts ?? 0,
      call_logs: counts.call_logs ?? 0,
      callback_tasks: counts.callback_tasks ?? 0,
      campaign_contacts: counts.campaign_contacts ?? 0,
      supervisor_actions: counts.supervisor_actions ?? 0,
      deliveries: counts.deliveries ?? 0,
      idempotency_keys: counts.idempotency_keys ?? 0,
      mentions: counts.mentions ?? 0,
    },
  }
}
