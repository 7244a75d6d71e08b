import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { readPage } from '../kernel/pages.ts'
import { tenantOf } from '../platform/http/guards.ts'
import { sendList, sendOne } from '../platform/http/json-lists.ts'
import { AnyId, errorResponses, listResponse, Ok, strict } from '../platform/http/schemas.ts'
import { END_REASONS } from './call-values.ts'
import { readRecordFilter, recordFields } from './record-query.ts'
import { SupervisedSession, VoiceSessionSummary, writeSupervisedSession } from './voice-session-shape.ts'
import type { VoiceSessions } from './voice-sessions.ts'

const Query = strict({
  ...recordFields,
  tag: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: 'An unknown one finds nothing.' })),
  end_reason: Type.Optional(Type.Enum(END_REASONS)),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description: 'Words, and phrases in double quotes, ten at most, each of which was said in the conversation.',
    }),
  ),
})

const Params = strict({ id: AnyId })

/** A tenant's own view of its conversations. To be registered behind `tenantGuard`. */
export function voiceSessionRoutes(sessions: VoiceSessions): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/api/v1/voice-sessions',
      {
        schema: {
          tags: ['runtime'],
          summary: 'List voice sessions, newest first, without what was said in them',
          operationId: 'listVoiceSessions',
          querystring: Query,
          response: { 200: listResponse('voice_sessions', VoiceSessionSummary), ...errorResponses },
        },
      },
      async (request, reply) => {
        const { tag, end_reason: endReason, q, ...query } = request.query
        const wanted = { ...readRecordFilter(query), tag, endReason, q }
        const page = await sessions.list(tenantOf(request), wanted, readPage(query))
        return sendList(reply, 'voice_sessions', page)
      },
    )

    app.get(
      '/api/v1/voice-sessions/:id',
      {
        schema: {
          tags: ['runtime'],
          summary:
            'Read a voice session: its transcript, function calls, latencies and usage, and what supervisors did',
          operationId: 'getVoiceSession',
          params: Params,
          response: { 200: Type.Object({ ok: Ok, voice_session: SupervisedSession }), ...errorResponses },
        },
      },
      async (request, reply) => {
        const found = await sessions.get(tenantOf(request), request.params.id)
        return sendOne(reply, 'voice_session', await writeSupervisedSession(found))
      },
    )
  }
}
