import type { FastifyReply, FastifyRequest, preParsingHookHandler } from 'fastify'
import { AppError } from '../../kernel/errors.ts'
import { NOTHING_HERE } from './errors.ts'
import { headersOfOldPath } from './old-paths.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** Browsers and other servers' habits put one there: the pages that are one document each, whose links a slash would break. */
const PAGE_AND_SLASH = /^\/(?:swagger-ui|getting-started|docs\/[^/?#]+)\/+(?:$|[?#])/
const READS = new Set(['GET', 'HEAD'])

/**
 * Answers a request that no route takes: 404, or 405 with `Allow` when the path is known for other methods. OPTIONS of a
 * known path is answered with its `Allow`; there are no CORS headers, because no page of another origin is served. The address
 * of a page with a slash behind it leads to the page.
 */
export function answerUnknownRoute(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const path = request.url.replace(/[?#].*$/s, '')
  if (leadsToPage(request)) return reply.redirect(path.replace(/\/+$/, ''))
  const allowed = methodsOf(request, path)
  if (allowed.length === 0) throw new AppError('not_found', NOTHING_HERE)
  const allow = [...allowed, 'OPTIONS'].join(', ')
  reply.headers(headersOfOldPath(path, (successor) => methodsOf(request, successor).length > 0))
  if (request.method === 'OPTIONS') return reply.code(204).header('allow', allow).send()
  throw new AppError('method_not_allowed', `This address takes ${allow}.`, { headers: { allow } })
}

/** Whether it asks for a page with a slash behind its address. */
export function leadsToPage({ method, url }: FastifyRequest): boolean {
  return PAGE_AND_SLASH.test(url) && READS.has(method)
}

/** The hook that does so before the body is read: what is sent to an unknown address need not be well-formed. */
export const refuseUnknownRoute: preParsingHookHandler = (request, reply, payload, done) => {
  if (request.is404) answerUnknownRoute(request, reply)
  else done(null, payload)
}

function methodsOf({ server }: FastifyRequest, path: string): string[] {
  return METHODS.filter((method) => server.findRoute({ method, url: path }) !== null)
}
