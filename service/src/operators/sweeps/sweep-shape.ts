import { type Static, type TProperties, Type } from 'typebox'
import { errorResponses, nullable, Ok, strict, Timestamp } from '../../platform/http/schemas.ts'
import { type TenantByToken, type TokenFilter, tenantAsked, tokenField } from '../../tenancy/token-filter.ts'
import type { SweepAsk } from './sweep-run.ts'

const MAX_LIMIT_ROWS = 10_000
const DEFAULT_LIMIT_ROWS = 100

const Count = Type.Integer({ minimum: 0 })

/** What every sweep can be asked for. */
export const sweepFields = {
  ...tokenField,
  limit: Type.Optional(
    Type.Integer({ minimum: 0, maximum: MAX_LIMIT_ROWS, default: DEFAULT_LIMIT_ROWS, description: 'Tasks at most.' }),
  ),
  emit_webhooks: Type.Optional(
    Type.Boolean({ default: false, description: 'Whether webhooks are told of what the sweep does.' }),
  ),
}

const SweepQuery = strict(sweepFields)

type SweepRequest = { query: Static<typeof SweepQuery>; body: Static<typeof TokenFilter> }

/** Reads them. @throws what `tenantAsked` throws. */
export async function readSweep(request: SweepRequest, tenantBy: TenantByToken): Promise<SweepAsk> {
  const { limit: limitRows = DEFAULT_LIMIT_ROWS, emit_webhooks: emitWebhooks = false } = request.query
  return { tenantId: await tenantAsked(request, tenantBy), limitRows, emitWebhooks }
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
