import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { TENANT_KEY } from '../../kernel/actor.ts'
import { knownActorOf, tenantOf } from '../../platform/http/guards.ts'
import { AnyId, errorResponses, iso, Ok, strict, Timestamp } from '../../platform/http/schemas.ts'
import type { EraseSession, ErasureReceipt } from './erase-session.ts'

const Params = strict({ id: AnyId })

const count = (description: string) => Type.Integer({ minimum: 0, description })

const Receipt = Type.Object({
  voice_session_id: Type.String(),
  call_sid: Type.String(),
  erased_at: Timestamp,
  transcript_turns: count('What was said.'),
  function_calls: count('What tools were asked, and answered.'),
  recording_parts: count('Its audio: one for each stream of the call.'),
  callback_tasks: count('Tasks of the call: without their words, they stay.'),
  supervisor_actions: count('Interventions: without their words, they stay.'),
  deliveries: count('Webhook events of the call and of its tasks, sent or not.'),
})

/** Erasure of what was said. To be registered behind `tenantGuard`. */
export function eraseRoutes(erase: EraseSession): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.delete(
      '/api/v1/voice-sessions/:id',
      {
        schema: {
          tags: ['runtime'],
          summary: 'Erase a session for good: what was said, done and recorded, and what was noted of it',
          operationId: 'eraseVoiceSession',
          params: Params,
          response: { 200: Type.Object({ ok: Ok, receipt: Receipt }), ...errorResponses },
        },
      },
      async (request) => {
        const by = knownActorOf(request) ?? TENANT_KEY
        const receipt = await erase(tenantOf(request), request.params.id, { by })
        return { ok: true as const, receipt: show(receipt) }
      },
    )
  }
}

function show({ sessionId, callSid, erasedAt, ...counts }: ErasureReceipt) {
  return {
    voice_session_id: sessionId,
    call_sid: callSid,
    erased_at: iso(erasedAt),
    transcript_turns: counts.transcriptTurns,
    function_calls: counts.functionCalls,
    recording_parts: counts.recordingParts,
    callback_tasks: counts.callbackTasks,
    supervisor_actions: counts.supervisorActions,
    deliveries: counts.deliveries,
  }
}
