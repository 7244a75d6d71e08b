import { type Static, Type } from 'typebox'
import { iso, nullable, Timestamp } from '../platform/http/schemas.ts'
import type { SupervisorAction } from './supervisor-action-store.ts'

/** What a supervisor did to a live call, as the API shows it. */
export const ShownSupervisorAction = Type.Object({
  id: Type.String({ format: 'uuid' }),
  tenant_id: Type.String(),
  stream_sid: Type.String(),
  call_sid: Type.String(),
  action: Type.String(),
  supervisor: nullable(Type.String()),
  target: nullable(Type.String()),
  reason: nullable(Type.String()),
  note: nullable(Type.String()),
  metadata: Type.Record(Type.String(), Type.Unknown()),
  created_at: Timestamp,
})

/** Writes an action as the API shows it. */
export function showSupervisorAction({
  created_at,
  ...action
}: SupervisorAction): Static<typeof ShownSupervisorAction> {
  return { ...action, created_at: iso(created_at) }
}
