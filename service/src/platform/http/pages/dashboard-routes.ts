import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { secretText } from '../../../kernel/ids.ts'
import type { RateLimits } from '../rate-limits.ts'
import { errorResponses } from '../schemas.ts'
import { type DashboardFiles, isHashed } from './dashboard-files.ts'
import { sendKept } from './kept-answer.ts'
import { PAGE_POLICY } from './page-frame.ts'
import { LOAD_AGAIN } from './refusal-page.ts'

type Deps = { files: DashboardFiles; limits: Pick<RateLimits, 'asStranger'> }

const DASHBOARD = '/app/'

/** Stands in the built page for the nonce of an answer. */
const NONCE_PLACE = '__STYLE_NONCE__'
const NONCE_BYTES = 16

const NOT_BUILT = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Parley</title>
<p>The dashboard is not built here: run <code>npm run build</code> in the folder of the service.</p>
</html>
`

const Elsewhere = { 302: Type.Null({ description: 'It is elsewhere.' }), ...errorResponses }
const Html = { content: { 'text/html': { schema: Type.String() } } }
const Page = { 200: Html, 304: Type.Null(), ...errorResponses }

/** The page that people work with, and its files. The files that there are do not count for anybody. */
export function dashboardRoutes({ files, limits }: Deps): FastifyPluginAsyncTypebox {
  async function sendPage(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    await limits.asStranger(request, reply)
    const page = await files.page()
    const nonce = secretText(NONCE_BYTES)
    // Without an ETag: a page that a browser still had would have the nonce of an answer before.
    reply.headers({
      'cache-control': 'no-cache',
      'content-security-policy': page === null ? PAGE_POLICY : policyOf(request, nonce),
    })
    void reply.type('text/html; charset=utf-8').send(page?.replaceAll(NONCE_PLACE, nonce) ?? NOT_BUILT)
  }

  return async (app) => {
    const schema = { tags: ['pages'], summary: 'The dashboard is below /app/', operationId: 'getDashboardHome' }
    app.get(
      '/app',
      { config: LOAD_AGAIN, schema: { ...schema, response: Elsewhere } },
      async (request, reply): Promise<void> => {
        await limits.asStranger(request, reply)
        void reply.redirect(DASHBOARD)
      },
    )

    app.get(
      '/app/*',
      {
        config: LOAD_AGAIN,
        schema: {
          tags: ['pages'],
          summary: 'The dashboard, or one of its files',
          description:
            'Every address below that names no file is the page, which shows what its address says. A refusal is a page ' +
            'for whoever accepts `text/html`.',
          operationId: 'getDashboard',
          response: Page,
        },
      },
      async (request, reply): Promise<void> => {
        const { '*': path = '' } = request.params as { '*'?: string }
        const file = await files.file(path)
        if (file) {
          reply.header('cache-control', isHashed(path) ? 'public, max-age=31536000, immutable' : 'no-cache')
          sendKept(request, reply, file)
          return
        }
        if (!isHashed(path)) return sendPage(request, reply)
        await limits.asStranger(request, reply)
        throw new AppError('not_found', 'There is no such file: load the page anew.')
      },
    )
  }
}

/** What a browser writes as the host of an address. */
const HOST = /^[\w.:[\]-]{1,255}$/

/**
 * What the dashboard may load: files of this service and nothing that stands in the page itself, but for style sheets that its
 * own components make and mark with the nonce. It speaks to this service alone; not every browser takes 'self' for WebSockets.
 */
function policyOf(request: FastifyRequest, nonce: string): string {
  const sockets = HOST.test(request.host) ? ` ws://${request.host} wss://${request.host}` : ''
  return (
    `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data: blob:; ` +
    `font-src 'self'; media-src 'self' blob:; worker-src 'self'; connect-src 'self'${sockets}; ` +
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
  )
}
