import { Type } from 'typebox'
import { nullable, Timestamp } from '../platform/http/schemas.ts'

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
