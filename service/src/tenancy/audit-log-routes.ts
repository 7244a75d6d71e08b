import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { readPage } from '../kernel/pages.ts'
import {
  errorResponses,
  iso,
  listBody,
  listResponse,
  longRowsPageFields,
  nullable,
  strict,
  Timestamp,
} from '../platform/http/schemas.ts'
import type { AuditLog } from './audit-log.ts'
import type { AuditEntry } from './audit-log-store.ts'
import { TenantRef } from './tenant-values.ts'

const filterText = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 300, description }))

const Query = strict({
  ...longRowsPageFields,
  tenant_id: Type.Optional(TenantRef),
  actor: filterText('Who did it: a name as entries show it.'),
  action: filterText('What was done, such as api_key.revoked.'),
  target_id: filterText('What it was done to.'),
  created_after: Type.Optional(Timestamp),
  created_before: Type.Optional(Timestamp),
})

const Entry = Type.Object({
  id: Type.String({ format: 'uuid' }),
  tenant_id: nullable(Type.String()),
  actor_kind: Type.String({ description: 'key, administrator, person, system or stranger' }),
  actor: Type.String(),
  actor_id: nullable(Type.String({ format: 'uuid' })),
  action: Type.String(),
  target_id: nullable(Type.String()),
  before: Type.Unknown({ description: 'Without secrets; null where there was nothing.' }),
  after: Type.Unknown({ description: 'Without secrets; null where there is nothing.' }),
  created_at: Timestamp,
})

/** Who changed what. */
export function auditLogRoutes(log: AuditLog): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/api/v1/admin/audit-log',
      {
        schema: {
          tags: ['admin'],
          summary: 'List what was changed, and by whom, newest first',
          operationId: 'listAuditLog',
          querystring: Query,
          response: { 200: listResponse('entries', Entry), ...errorResponses },
        },
      },
      async (request) => {
        const {
          tenant_id: tenantId,
          actor,
          action,
          target_id: targetId,
          created_after,
          created_before,
          ...page
        } = request.query
        const [after, before] = [created_after, created_before].map((text) => (text ? new Date(text) : undefined))
        const filter = { tenantId, actor, action, targetId, after, before }
        const { rows, nextCursor } = await log.list(filter, readPage(page))
        return listBody('entries', rows.map(toWire), nextCursor)
      },
    )
  }
}

function toWire({ created_at, ...entry }: AuditEntry) {
  return { ...entry, created_at: iso(created_at) }
}
