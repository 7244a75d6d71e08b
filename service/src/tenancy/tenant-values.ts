import { Type } from 'typebox'
import type { TenantId } from '../kernel/ids.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import { AnyId, forPeople, KEY_PATTERN, Phone, strict, TIME_PATTERN } from '../platform/http/schemas.ts'

/** What a stored secret reads back as; sent in a PUT, it keeps the stored one. */
export const HIDDEN = '***'

/** A secret: it is never read back, and `***` in its place keeps the stored one. */
export function WriteOnly(maxLength: number, description: string) {
  return Type.String({
    maxLength,
    writeOnly: true,
    description: `${description} Reads back as "${HIDDEN}"; send that to keep the stored one.`,
  })
}

/** An address that is asked over http or https. It carries no user name or password: those belong into a secret. */
export const HttpUrl = Type.String({ minLength: 1, maxLength: 2_000, description: 'An http or https address.' })

/** A number that can be called. */
export const CallableNumber = Type.Unsafe<PhoneNumber>(Phone)

/** A tenant in an address or a filter. */
export const TenantRef = Type.Unsafe<TenantId>(AnyId)

/** What addresses have in them that name a tenant and nothing else. */
export const TenantParams = strict({ tenant_id: TenantRef })

/** What a writer is told of a document that was taken; left out where there is nothing. */
export const Warnings = Type.Optional(
  Type.Array(Type.String(), { description: 'What was taken and will hardly work.' }),
)

/** A name or a key of the tenant's. */
export function Label(description: string) {
  return forPeople(200, description)
}

/** What a queue of operators may be called: any such key works, with the defaults until it has settings. */
export const QueueKey = Type.String({
  pattern: KEY_PATTERN,
  description: 'A queue: any such key works.',
})

/** Calls of which a callback may be wanted: nobody answered, something broke, the caller hung up without a word. */
export const MISSED_CALL_KINDS = ['missed', 'failed', 'abandoned'] as const

export type MissedCallKind = (typeof MISSED_CALL_KINDS)[number]

/** An hour and minute of the day, `00:00` to `24:00`. */
export const TimeOfDay = Type.String({ pattern: TIME_PATTERN, description: 'HH:MM.' })
