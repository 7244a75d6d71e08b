import { Type } from 'typebox'
import { redactorFor } from '../../kernel/redaction/redact.ts'
import type { DoNotCall } from '../../operators/do-not-call.ts'
import { strict } from '../../platform/http/schemas.ts'
import { numberOfCall } from './number-of-call.ts'
import { defineTool, type Tool } from './tool.ts'

/** Where numbers are listed that are not to be called. */
export type DncDesk = { add(...asked: Parameters<DoNotCall['add']>): Promise<unknown> }

const PARAMETERS = strict({
  reason: Type.Optional(Type.String({ minLength: 1, maxLength: 500, description: 'What they said, in a few words.' })),
})

/** Sees to it that the other side is not called any more. */
export function addToDnc({ doNotCall }: { doNotCall: DncDesk }): Tool {
  return defineTool({
    name: 'add_to_dnc',
    description:
      'Puts the number of this call on the do-not-call list. Use it when they ask not to be called any more.',
    parameters: PARAMETERS,
    maxPerCall: 2,
    async run({ reason = null }, { tenant, customerPhone, agentName }) {
      const phone = numberOfCall(customerPhone, 'the number of this call is not known: it cannot be listed')
      const kept = reason && redactorFor(tenant.compliance.redact_pii).text(reason)
      await doNotCall.add(tenant.tenant_id, { phone, reason: kept, source: agentName, isWish: true })
      return { output: { ok: true } }
    },
  })
}
