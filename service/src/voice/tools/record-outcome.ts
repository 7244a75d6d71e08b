import { Type } from 'typebox'
import { redactorFor } from '../../kernel/redaction/redact.ts'
import { strict } from '../../platform/http/schemas.ts'
import type { Outcomes } from '../../records/outcomes.ts'
import { defineTool, type Tool } from './tool.ts'

const Tag = Type.String({ minLength: 1, maxLength: 64, description: 'A short label, such as billing.' })

const PARAMETERS = strict({
  tags: Type.Array(Tag, { maxItems: 20, description: 'Labels for the conversation; they add up, to 50.' }),
  outcome: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'The outcome in a few words.' })),
  notes: Type.Optional(Type.String({ minLength: 1, maxLength: 2_000, description: 'What a colleague has to know.' })),
})

/** Notes how the conversation went. */
export function recordOutcome({ outcomes }: { outcomes: Outcomes }): Tool {
  return defineTool({
    name: 'record_outcome',
    description: 'Notes what came of the conversation. Repeat it when that changes.',
    parameters: PARAMETERS,
    maxPerCall: 20,
    async run({ tags, outcome = null, notes = null }, { tenant, sessionId }) {
      const words = redactorFor(tenant.compliance.redact_pii).value({ tags, outcome, notes })
      return { output: { ok: true, tags: await outcomes.record(tenant.tenant_id, sessionId, words) } }
    },
  })
}
