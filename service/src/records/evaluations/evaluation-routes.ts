import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { invalidRequest } from '../../kernel/errors.ts'
import type { AgentVersionId } from '../../kernel/ids.ts'
import { readPage } from '../../kernel/pages.ts'
import { tenantOf } from '../../platform/http/guards.ts'
import {
  AnyId,
  dateOf,
  ErrorBody,
  errorResponses,
  instantFilter,
  listBody,
  listResponse,
  longRowsPageFields,
  nullable,
  Ok,
  strict,
} from '../../platform/http/schemas.ts'
import { takeNothing } from '../../platform/http/take-nothing.ts'
import type { SessionId } from '../call-values.ts'
import type { Verdict } from './assessment.ts'
import { Evaluation, showEvaluation } from './evaluation-shape.ts'
import { EVALUATION_SOURCES } from './evaluation-store.ts'
import type { Evaluations } from './evaluations.ts'

const text = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 256, description }))

const Query = strict({
  ...longRowsPageFields,
  voice_session_id: text('An unknown one finds nothing.'),
  agent_key: text('An unknown one finds nothing.'),
  agent_version_id: text('An unknown one finds nothing.'),
  source: Type.Optional(Type.Enum(EVALUATION_SOURCES)),
  started_after: instantFilter('Of created_at, inclusive.'),
  started_before: instantFilter('Of created_at, exclusive.'),
})

const Params = strict({ id: AnyId })

const Score = Type.Number({ minimum: 0, maximum: 1, description: 'From 0 to 1, kept with four decimals.' })
const MAX_CRITERIA = 50

const Body = strict({
  score: Type.Optional(Score),
  criteria: Type.Optional(
    Type.Array(
      strict({
        name: Type.String({ minLength: 1, maxLength: 64 }),
        score: Score,
        reason: Type.Optional(nullable(Type.String({ maxLength: 1_000 }))),
      }),
      { maxItems: MAX_CRITERIA, description: 'What the score is made of, in words of yours. Default: none.' },
    ),
  ),
  summary: Type.Optional(nullable(Type.String({ maxLength: 2_000 }))),
})

/** How good conversations were. To be registered behind `tenantGuard`. */
export function evaluationRoutes(evaluations: Evaluations): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/api/v1/evaluations',
      {
        schema: {
          tags: ['runtime'],
          summary: 'List evaluations of conversations, newest first',
          operationId: 'listEvaluations',
          querystring: Query,
          response: { 200: listResponse('evaluations', Evaluation), ...errorResponses },
        },
      },
      async (request) => {
        const { query } = request
        const filter = {
          sessionId: query.voice_session_id as SessionId | undefined,
          agentKey: query.agent_key,
          agentVersionId: query.agent_version_id as AgentVersionId | undefined,
          source: query.source,
          after: dateOf(query.started_after),
          before: dateOf(query.started_before),
        }
        const { rows, nextCursor } = await evaluations.list(tenantOf(request), filter, readPage(query))
        return listBody('evaluations', rows.map(showEvaluation), nextCursor)
      },
    )

    app.post(
      '/api/v1/voice-sessions/:id/evaluations',
      {
        preValidation: takeNothing,
        schema: {
          tags: ['runtime'],
          summary:
            "Record a person's score of a session that has ended; with an empty body the chat model scores it now",
          operationId: 'evaluateVoiceSession',
          params: Params,
          body: Body,
          response: { 200: Type.Object({ ok: Ok, evaluation: Evaluation }), ...errorResponses, 502: ErrorBody },
        },
      },
      async (request) => {
        const [tenantId, { id }] = [tenantOf(request), request.params]
        const said = verdictIn(request.body)
        const evaluation = await (said ? evaluations.record(tenantId, id, said) : evaluations.score(tenantId, id))
        return { ok: true as const, evaluation: showEvaluation(evaluation) }
      },
    )
  }
}

/** Null for an empty body. @throws AppError `invalid_request` for one that says something and gives no score. */
function verdictIn(body: Static<typeof Body>): Verdict | null {
  const { score, criteria = [], summary = null } = body
  if (Object.keys(body).length === 0) return null
  if (score === undefined)
    throw invalidRequest([{ path: '/body/score', message: 'must be given; an empty body has the chat model score' }])
  // A field that was left blank says nothing, and takes away nothing that was said of the call before.
  const said = summary?.trim() ? summary : null
  return {
    score,
    criteria: criteria.map(({ reason = null, ...criterion }) => ({ ...criterion, reason })),
    summary: said,
  }
}
