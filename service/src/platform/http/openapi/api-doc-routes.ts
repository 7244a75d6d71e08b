import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { keepAnswer, keeping, sendKept } from '../pages/kept-answer.ts'
import type { RateLimits } from '../rate-limits.ts'
import { errorResponses } from '../schemas.ts'
import { type ApiFacts, DOCUMENTS, type DocumentName, describeApi } from './document.ts'

type Deps = {
  /** Asked once the server listens: all routes are there by then, and its address is known. */
  facts: () => ApiFacts
  limits: Pick<RateLimits, 'asStranger'>
}

const SUMMARIES: Record<DocumentName, [operationId: string, summary: string]> = {
  public: ['getPublicDescription', 'The description of the API for tenants, intake and carriers, as OpenAPI 3.1'],
  admin: ['getAdminDescription', 'The description of the API for administrators, as OpenAPI 3.1'],
  openapi: ['getDescription', 'The description of everything, as OpenAPI 3.1'],
}

/** The descriptions of the API, for programs. Each is made when it is first asked for. */
export function apiDocRoutes({ facts, limits }: Deps): FastifyPluginAsyncTypebox {
  const documents = keeping(async (name: DocumentName) => {
    const document = await describeApi(name, facts())
    return keepAnswer('application/json; charset=utf-8', Buffer.from(JSON.stringify(document)))
  })
  return async (app) => {
    app.addHook('onRequest', limits.asStranger)
    for (const name of DOCUMENTS) {
      const [operationId, summary] = SUMMARIES[name]
      const body = Type.Unsafe<unknown>({ type: 'object', additionalProperties: true })
      const answers = {
        200: { content: { 'application/json': { schema: body } } },
        304: Type.Null(),
        ...errorResponses,
      }
      app.get(
        `/api-docs/${name}.json`,
        { schema: { tags: ['pages'], summary, operationId, response: answers } },
        async (request, reply): Promise<void> => {
          // It is open to all: a page of any origin may read it.
          reply.headers({ 'cache-control': 'no-cache', 'access-control-allow-origin': '*' })
          sendKept(request, reply, await documents(name))
        },
      )
    }
  }
}
