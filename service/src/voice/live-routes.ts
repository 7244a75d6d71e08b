import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Clock } from '../kernel/clock.ts'
import { actingAs } from '../platform/http/acting-person.ts'
import { Followers } from '../platform/http/followers.ts'
import { type Guard, tenantOf } from '../platform/http/guards.ts'
import { ErrorBody, errorResponses, nullable, Ok, strict, Timestamp } from '../platform/http/schemas.ts'
import { isStillLetIn } from '../platform/http/still-let-in.ts'
import { ShownSupervisorAction } from '../records/supervisor-action-shape.ts'
import type { LiveCalls } from './live-calls.ts'
import { eventStream } from './live-stream.ts'
import { WATCHERS_OF_TENANT } from './remote-calls.ts'

const Params = strict({ stream_sid: Type.String({ minLength: 1, maxLength: 200 }) })

const Session = Type.Object({
  stream_sid: Type.String(),
  call_sid: Type.String(),
  voice_session_id: Type.String({ format: 'uuid' }),
  tenant: Type.String(),
  org_id: nullable(Type.String()),
  agent_name: Type.String(),
  call_type: Type.String({ description: 'inbound, outbound or browser' }),
  customer_phone: Type.String({ description: 'As the call log has it.' }),
  greeting: Type.String(),
  started_at: Timestamp,
  state: Type.String({ description: 'waiting, talking, detached (its stream was lost), draining or ended' }),
  muted: Type.Boolean({ description: 'A supervisor has silenced the agent.' }),
  taken_over: Type.Boolean({ description: 'A person speaks with the caller in the place of the agent.' }),
  taken_over_by: Type.Optional(
    Type.String({ description: 'Who that is: as they said, or as they are logged in. Left out where nobody said.' }),
  ),
  escalated: Type.Boolean(),
  escalation_target: nullable(Type.String()),
  last_words: Type.Optional(
    Type.Object(
      { role: Type.Enum(['caller', 'agent']), text: Type.String() },
      { description: 'The beginning of what was said last; left out before somebody has spoken.' },
    ),
  ),
  last_response_ms: Type.Optional(
    Type.Integer({ minimum: 0, description: 'How long the caller waited for the last answer.' }),
  ),
})

const text = (description: string, maxLength: number) => Type.Optional(Type.String({ maxLength, description }))

const ActionBody = strict({
  action: Type.String({
    maxLength: 40,
    description: 'note, say, whisper, mute, unmute, release, transfer, escalate or end_call',
  }),
  supervisor: text('Who acts; of a person who is logged in, they themselves.', 254),
  target: text('To whom, of an escalation; the number in E.164 of a transfer.', 200),
  text: text('What the agent says to the caller (say), or is told without the caller hearing it (whisper).', 2_000),
  reason: text('Why.', 500),
  note: text('For the record; needed for a note.', 2_000),
  metadata: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { maxProperties: 50 })),
})

type Deps = {
  calls: LiveCalls
  clock: Clock
  /** What lets in: it is asked again while somebody watches a call. */
  guard: Guard
}

/** The tenant's calls while they last. To be registered behind `guard`. */
export function liveRoutes(deps: Deps): FastifyPluginAsyncTypebox {
  const { calls } = deps
  return async (app) => {
    await app.register(watchRoute(deps))

    app.get(
      '/api/v1/sessions/active',
      {
        config: { isForAnyTime: true },
        schema: {
          tags: ['runtime'],
          summary: 'List live sessions, newest first',
          operationId: 'listLiveSessions',
          response: {
            200: Type.Object({ ok: Ok, count: Type.Integer({ minimum: 0 }), sessions: Type.Array(Session) }),
            ...errorResponses,
          },
        },
      },
      async (request) => {
        const sessions = await calls.list(tenantOf(request))
        return { ok: true as const, count: sessions.length, sessions }
      },
    )

    app.get(
      '/api/v1/sessions/:stream_sid',
      {
        config: { isForAnyTime: true },
        schema: {
          tags: ['runtime'],
          summary: 'Get a live session',
          operationId: 'getLiveSession',
          params: Params,
          response: { 200: Type.Object({ ok: Ok, session: Session }), ...errorResponses },
        },
      },
      async (request) => ({
        ok: true as const,
        session: await calls.get(tenantOf(request), request.params.stream_sid),
      }),
    )

    app.post(
      '/api/v1/sessions/:stream_sid/actions',
      {
        preValidation: actingAs('supervisor'),
        config: { isForAnyTime: true },
        schema: {
          tags: ['runtime'],
          summary: 'Act on a live session',
          description: 'transfer and end_call are a 502 when the carrier of the call does not do it.',
          operationId: 'actOnLiveSession',
          params: Params,
          body: ActionBody,
          response: { 200: Type.Object({ ok: Ok, action: ShownSupervisorAction }), ...errorResponses, 502: ErrorBody },
        },
      },
      async (request) => {
        const action = await calls.act(tenantOf(request), request.params.stream_sid, request.body)
        return { ok: true as const, action }
      },
    )
  }
}

function watchRoute({ calls, clock, guard }: Deps): FastifyPluginAsyncTypebox {
  const watchers = new Followers(WATCHERS_OF_TENANT)
  return async (app) => {
    app.get(
      '/api/v1/sessions/:stream_sid/events',
      {
        // To a HEAD nothing would ever end.
        exposeHeadRoute: false,
        config: { isForAnyTime: true },
        schema: {
          tags: ['runtime'],
          summary: 'Watch a live session',
          description:
            'Server-sent events: state, turn, turn_delta, tool, latency, moved, ended. Last-Event-ID goes on where a connection was lost. ' +
            'Each data is a JSON object. state: state, and muted, taken_over, escalated (with escalation_target) or answered_by (with answered_by_source) where that has changed. ' +
            'turn: item_id, seq, role, text (what was heard), unheard, start_ms, end_ms, interrupted, of an agent agent_name, and of an answer cost_usd and timeline; told anew under its item_id when more is known. ' +
            'turn_delta: item_id, role, text. tool: call_id, name, status (started, ok, error, timeout). latency: response_ms. ' +
            'moved: call_sid, which has another stream_sid from then on: look for it among the live sessions. ended: end_reason, duration_ms.',
          operationId: 'watchLiveSession',
          params: Params,
          response: { 200: { content: { 'text/event-stream': { schema: Type.String() } } }, ...errorResponses },
        },
      },
      async (request, reply) => {
        const afterId = lastEventId(request.headers['last-event-id'])
        const leave = watchers.enter(tenantOf(request))
        const watched = calls.events(tenantOf(request), request.params.stream_sid, afterId)
        const events = await watched.catch((error: unknown) => {
          leave()
          throw error
        })
        const stream = eventStream(events, afterId, { clock, mayStay: () => isStillLetIn(guard, request) })
        stream.once('close', leave)
        // The framework takes a stream wherever it takes text; its types do not know that.
        const text = stream as unknown as string
        return reply.type('text/event-stream').header('x-accel-buffering', 'no').send(text)
      },
    )
  }
}

/** What is no number of ours begins at the oldest event that is kept. */
function lastEventId(header: string | string[] | undefined): number {
  return typeof header === 'string' && /^\d{1,15}$/.test(header) ? Number(header) : 0
}
