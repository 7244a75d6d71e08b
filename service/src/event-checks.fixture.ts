import { Ajv, type ValidateFunction } from 'ajv'
import { Type } from 'typebox'
import { type CataloguedEvent, EVENT_CATALOGUE } from './event-catalogue.ts'
import { addFormats } from './platform/http/formats.ts'
import { Timestamp } from './platform/http/schemas.ts'

const ajv = new Ajv({ allErrors: true, strict: false })
addFormats(ajv)

/** What is wrong with a posted event by the catalogue: a member that it does not name is a fault too. */
export function eventFaults(envelope: Record<string, unknown>): string[] {
  const entry = EVENT_CATALOGUE.find(({ event }) => event === envelope['event'])
  if (!entry) return [`${envelope['event']} is not in the catalogue`]
  const isValid = checkOf(entry)
  if (isValid(envelope)) return []
  return (isValid.errors ?? []).map(({ instancePath, message, params }) => {
    return `${entry.event} ${instancePath} ${message} ${JSON.stringify(params)}`
  })
}

/** Compiled once: tests look at the same events again and again. */
function checkOf(entry: CataloguedEvent): ValidateFunction {
  const known = ajv.getSchema(entry.event)
  if (known) return known
  const schema = Type.Object({
    event: Type.Literal(entry.event),
    tenant_id: Type.String(),
    call_sid: Type.String(),
    voice_session_id: Type.String(),
    created_at: Timestamp,
    payload: entry.payload,
  })
  return ajv.compile({ ...(closed(JSON.parse(JSON.stringify(schema))) as object), $id: entry.event })
}

/** Objects that name their members have no others. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const members = Object.fromEntries(Object.entries(schema).map(([name, member]) => [name, closed(member)]))
  return 'properties' in members ? { ...members, additionalProperties: false } : members
}
