import { type Static, Type } from 'typebox'
import { iso, nullable, Timestamp } from '../platform/http/schemas.ts'
import type { DncEntryRow } from './do-not-call-store.ts'

/** An entry of the do-not-call list as the API shows it and events carry it. */
export const DncEntry = Type.Object({
  phone: Type.String({ description: 'E.164.' }),
  reason: nullable(Type.String()),
  source: nullable(Type.String({ description: 'Where it comes from, in the words of whoever listed it.' })),
  created_at: Timestamp,
})

/** Writes an entry as the API shows it. */
export function showDncEntry({ phone, reason, source, created_at }: DncEntryRow): Static<typeof DncEntry> {
  return { phone, reason, source, created_at: iso(created_at) }
}
