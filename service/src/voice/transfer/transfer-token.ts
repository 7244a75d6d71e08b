import { type Static, Type } from 'typebox'
import type { NodeId, TenantId } from '../../kernel/ids.ts'

/** What names a transfer in the addresses at which its carrier asks and tells. */
export const TransferClaims = Type.Object({
  transfer: Type.String({ minLength: 1 }),
  tenant: Type.Unsafe<TenantId>(Type.String({ minLength: 1 })),
  call_sid: Type.String({ minLength: 1 }),
  /** The node that has the call. */
  node: Type.Unsafe<NodeId>(Type.String({ minLength: 1 })),
  /** Whether the target has to take it: until then it is ours. Nodes of the version before do not say it. */
  warm: Type.Optional(Type.Boolean()),
  exp: Type.Integer({ minimum: 0 }),
})

export type TransferGrant = Omit<Static<typeof TransferClaims>, 'exp'>
