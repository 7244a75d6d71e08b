import type { Standing } from '../../tenancy/standing.ts'
import type { LineGrant } from './line-token.ts'

/** The route that lets people on lines of a kind. */
export const LINE_ROUTES = {
  listen: '/api/v1/sessions/:stream_sid/listen',
  takeover: '/api/v1/sessions/:stream_sid/takeover',
} as const

/**
 * Makes what tells whether whoever asked for a line would still be let on it; rejects when that is not known now. Who speaks with
 * a caller is at work: their session is in use by that.
 */
export function linesMayStay(standing: Pick<Standing, 'isGood'>): (grant: LineGrant) => Promise<boolean> {
  return async ({ by, kind, tenant: tenantId }) => {
    if (by === undefined) return true
    return standing.isGood(by, { tenantId, method: 'POST', route: LINE_ROUTES[kind], isLook: kind === 'listen' })
  }
}
