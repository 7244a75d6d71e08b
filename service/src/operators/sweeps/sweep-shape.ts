import { type Static, type TProperties, Type } from 'typebox'
import { errorResponses, nullable, Ok, strict, Timestamp } from '../../platform/http/schemas.ts'
import type { TenantByToken } from '../../tenancy/token-filter.ts'
import type { SweepAsk } from './sweep-run.ts'

const MAX_LIMIT_ROWS = 10_000
const DEFAULT_LIMIT_ROWS = 100

const Count = Type.Integer({ minimum: 0 })

/** What every sweep can be asked for. */
export const sweepFields = {
  auth_token: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 512,
      description: 'Only the tenant whose API key or legacy token this is. It is not logged.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 0, maximum: MAX_LIMIT_ROWS, default: DEFAULT_LIMIT_ROWS, description: 'Tasks at most.' }),
  ),
  emit_webhooks: Type.Optional(
    Type.Boolean({ default: false, description: 'Whether webhooks are told of what the sweep does.' }),
  ),
}

const SweepQuery = strict(sweepFields)

/** Reads them. @throws AppError `unauthorized` for a token that is nobody's. */
export async function readSweep(query: Static<typeof SweepQuery>, tenantBy: TenantByToken): Promise<SweepAsk> {
  const { auth_token: token, limit: limitRows = DEFAULT_LIMIT_ROWS, emit_webhooks: emitWebhooks = false } = query
  return { tenantId: token === undefined ? null : await tenantBy(token), limitRows, emitWebhooks }
}

const Failure = Type.Object({
  tenant_id: Type.String(),
  task_id: Type.Optional(Type.String({ format: 'uuid' })),
  error: Type.String({ description: 'A sentence for people.' }),
})

/** A task as a sweep tells of it. */
const item = {
  tenant_id: Type.String(),
  task_id: Type.String({ format: 'uuid' }),
  queue_key: Type.String(),
}

type Described = { outcomes: string[]; item: TProperties; counts: string[] }

/** The answer of a sweep: what it did by task, what failed, and counts of both. */
export function sweepResponse({ outcomes, item: more, counts }: Described) {
  const Result = Type.Object({
    attempted_tenants: Type.Integer({ minimum: 0, description: 'Tenants that may have had something to do.' }),
    evaluated_tenants: Type.Integer({ minimum: 0, description: 'Those of them that could be looked through.' }),
    ...Object.fromEntries(counts.map((name) => [name, Count])),
    items: Type.Array(Type.Object({ ...item, outcome: Type.Enum(outcomes), ...more })),
    failures: Type.Array(Failure),
  })
  return { 200: Type.Object({ ok: Ok, result: Result }), ...errorResponses }
}

/** Members of items. */
export const optionalText = Type.Optional(Type.String())
export const optionalTextOrNull = Type.Optional(nullable(Type.String()))
export const optionalCount = Type.Optional(Count)
export const optionalInstant = Type.Optional(Timestamp)
