import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import type { RateLimits } from '../rate-limits.ts'
import { ErrorBody, errorResponses, strict } from '../schemas.ts'
import { sendKept } from './kept-answer.ts'
import { ASSETS_PATH } from './page-assets.ts'
import { PAGE_POLICY } from './page-frame.ts'
import { HTML, type PageMaker } from './page-maker.ts'
import { LOAD_AGAIN } from './refusal-page.ts'

type Deps = { pages: PageMaker; limits: Pick<RateLimits, 'asStranger'> }

const Html = { 200: { content: { 'text/html': { schema: Type.String() } } }, 304: Type.Null(), ...errorResponses }
const Missing = {
  content: {
    'application/json': { schema: ErrorBody },
    'text/html': { schema: Type.String({ description: 'For browsers.' }) },
  },
}
const Elsewhere = { 302: Type.Null({ description: 'It is elsewhere.' }), ...errorResponses }

const schemaOf = (operationId: string, summary: string) => ({ tags: ['pages'], summary, operationId, response: Html })

/** The pages for people: guides, the quickstart, the API to be tried. */
export function pageRoutes({ pages, limits }: Deps): FastifyPluginAsyncTypebox {
  async function send(path: string, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const page = await pages.page(path)
    if (!page) reply.header('vary', 'accept')
    if (!page && !isBrowser(request)) throw new AppError('not_found', 'There is no such page: see /docs.')
    reply.headers({ 'cache-control': 'no-cache', 'content-security-policy': PAGE_POLICY })
    if (page) sendKept(request, reply, page)
    else
      await reply
        .code(404)
        .type(HTML)
        .send(await pages.missing(path))
  }

  return async (app) => {
    app.addHook('onRequest', limits.asStranger)

    app.get(
      '/',
      {
        config: LOAD_AGAIN,
        schema: { tags: ['pages'], summary: 'The way in', operationId: 'getHome', response: Elsewhere },
      },
      async (_request, reply): Promise<void> => void reply.redirect('/app/'),
    )
    app.get('/docs', { config: LOAD_AGAIN, schema: schemaOf('getDocs', 'The hub of the guides') }, (request, reply) =>
      send('/docs', request, reply),
    )
    app.get(
      '/docs/:page',
      {
        config: LOAD_AGAIN,
        schema: {
          ...schemaOf('getDocsPage', 'A guide'),
          response: { ...Html, ...Elsewhere, 404: Missing },
          params: strict({ page: Type.String({ maxLength: 100, description: 'The guide; nothing: their hub.' }) }),
        },
      },
      async (request, reply): Promise<void> => {
        const { page } = request.params
        return page === '' ? void reply.redirect('/docs') : send(`/docs/${page}`, request, reply)
      },
    )
    app.get(
      '/getting-started',
      { config: LOAD_AGAIN, schema: schemaOf('getGettingStarted', 'The quickstart') },
      (request, reply) => send('/getting-started', request, reply),
    )
    app.get(
      '/swagger-ui',
      { config: LOAD_AGAIN, schema: schemaOf('getSwaggerUi', 'The API, to be tried') },
      (request, reply) => send('/swagger-ui', request, reply),
    )
  }
}

/** Whoever asks for HTML by its name; programs take whatever comes, and get an error as everywhere. */
function isBrowser({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') ?? false
}

const File = Type.String({ format: 'binary' })

/** The files of the pages. Those that there are do not count for anybody. */
export function pageAssetRoutes({ pages, limits }: Deps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      `${ASSETS_PATH}/:file`,
      {
        schema: {
          tags: ['pages'],
          summary: 'A file of the pages, by its hashed name',
          operationId: 'getPageAsset',
          params: strict({ file: Type.String({ minLength: 1, maxLength: 100 }) }),
          response: { 200: File, 304: Type.Null(), ...errorResponses },
        },
      },
      async (request, reply): Promise<void> => {
        const file = await pages.asset(request.params.file)
        if (!file) {
          await limits.asStranger(request, reply)
          throw new AppError('not_found', 'There is no such file.')
        }
        reply.header('cache-control', 'public, max-age=31536000, immutable')
        sendKept(request, reply, file)
      },
    )
  }
}
