import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { actingAs } from '../../platform/http/acting-person.ts'
import { tenantOf } from '../../platform/http/guards.ts'
import { errorResponses, nullable, Ok, strict } from '../../platform/http/schemas.ts'
import { credentialOf, type GivenCredential } from '../../platform/http/still-let-in.ts'
import type { LiveCalls } from '../live-calls.ts'
import type { StreamTokens } from '../stream-token.ts'
import { cannotBeTaken } from './call-lines.ts'
import type { LineGrant } from './line-token.ts'
import { LINE_ROUTES } from './may-stay.ts'

const Params = strict({ stream_sid: Type.String({ minLength: 1, maxLength: 200 }) })

const Body = nullable(
  strict({
    supervisor: Type.Optional(
      Type.String({ maxLength: 254, description: 'Who it is; of a person who is logged in, they themselves.' }),
    ),
  }),
)

const Answer = Type.Object({
  ok: Ok,
  stream_url: Type.String({ description: 'A WebSocket that speaks Media Streams, µ-law at 8 kHz.' }),
  stream_token: Type.String({ description: 'Opens it once: as the query parameter stream_token.' }),
})

type Deps = {
  calls: Pick<LiveCalls, 'get'>
  tokens: Pick<StreamTokens, 'issueLine'>
  streamUrl: () => string
  /** Names the credential of who asks. */
  refTo: (credential: GivenCredential) => string
}

type Asking = { kind: LineGrant['kind']; streamSid: string; supervisor: string | null }

/** Lines into live calls: to listen to one, and to speak with its caller. */
export function lineRoutes({ calls, tokens, streamUrl, refTo }: Deps): FastifyPluginAsyncTypebox {
  async function grant(request: FastifyRequest, { kind, streamSid, supervisor }: Asking) {
    const tenantId = tenantOf(request)
    const call = await calls.get(tenantId, streamSid)
    if (call.state === 'draining' || call.state === 'ended') throw new AppError('conflict', 'The call is ending.')
    if (kind === 'takeover' && (call.state === 'detached' || call.taken_over || call.being_put_through))
      throw cannotBeTaken()
    const by = refTo(credentialOf(request))
    const stream_token = tokens.issueLine({ kind, tenant: tenantId, stream_sid: streamSid, supervisor, by })
    return { ok: true as const, stream_url: streamUrl(), stream_token }
  }

  const response = { 200: Answer, ...errorResponses }
  return async (app) => {
    app.post(
      LINE_ROUTES.listen,
      {
        preValidation: actingAs('supervisor'),
        schema: {
          tags: ['runtime'],
          summary: 'Listen to a live session',
          description:
            'The WebSocket sends start, then media with the tracks inbound (the caller) and outbound (what the caller hears), then stop. ' +
            'Nothing that is sent to it is heard. Who does not keep up is let go with 1013.',
          operationId: 'listenToLiveSession',
          params: Params,
          body: Body,
          response,
        },
      },
      async (request) => grant(request, askingOf('listen', request)),
    )

    app.post(
      LINE_ROUTES.takeover,
      {
        preValidation: actingAs('supervisor'),
        schema: {
          tags: ['runtime'],
          summary: 'Speak with the caller of a live session in the place of its agent',
          description:
            'With the start that is sent to the WebSocket the agent falls silent, and the caller and the person hear each other. It ends with ' +
            'the action release, with stop, or with the socket; then the agent goes on, and knows what was said.',
          operationId: 'takeOverLiveSession',
          params: Params,
          body: Body,
          response,
        },
      },
      async (request) => grant(request, askingOf('takeover', request)),
    )
  }
}

type Asked = { params: Static<typeof Params>; body?: Static<typeof Body> }

function askingOf(kind: Asking['kind'], { params, body }: Asked): Asking {
  const { supervisor = null } = body ?? {}
  // A name that is blank names nobody.
  return { kind, streamSid: params.stream_sid, supervisor: supervisor?.trim() ? supervisor : null }
}
