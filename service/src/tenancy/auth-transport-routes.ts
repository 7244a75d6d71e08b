import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { errorResponses, Ok } from '../platform/http/schemas.ts'
import { AuthTransport, type TransportFacts, transportAlerts, transportDiagnostics, worstOf } from './auth-transport.ts'

const Alert = Type.Object({
  code: Type.String(),
  message: Type.String(),
  severity: Type.String({ description: 'info, warning or critical' }),
  action: Type.String({ description: 'What to set.' }),
})
const AlertsAnswer = Type.Object({
  ok: Ok,
  alerts: Type.Array(Alert),
  count: Type.Integer({ minimum: 0 }),
  diagnostics: AuthTransport,
  status: Type.String({ description: 'The worst of them: ok, info, warning or critical' }),
})

/** How credentials travel, and what about it should be changed. */
export function authTransportRoutes(facts: () => TransportFacts): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/api/v1/admin/auth/transport',
      {
        schema: {
          tags: ['admin'],
          summary: 'How credentials travel here',
          operationId: 'getAuthTransport',
          response: { 200: Type.Object({ ok: Ok, auth_transport: AuthTransport }), ...errorResponses },
        },
      },
      async () => ({ ok: true as const, auth_transport: transportDiagnostics(facts()) }),
    )

    app.get(
      '/api/v1/admin/alerts/auth-transport',
      {
        schema: {
          tags: ['admin'],
          summary: 'What should be changed about how credentials travel',
          operationId: 'listAuthTransportAlerts',
          response: { 200: AlertsAnswer, ...errorResponses },
        },
      },
      async () => {
        const alerts = transportAlerts(facts())
        const diagnostics = transportDiagnostics(facts())
        return { ok: true as const, alerts, count: alerts.length, diagnostics, status: worstOf(alerts) }
      },
    )
  }
}
