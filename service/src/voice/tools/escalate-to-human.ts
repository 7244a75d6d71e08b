import { Type } from 'typebox'
import { phoneNumberOf } from '../../kernel/phone.ts'
import { redactorFor } from '../../kernel/redaction/redact.ts'
import { strict } from '../../platform/http/schemas.ts'
import type { Escalations } from '../../records/escalations.ts'
import type { CallbackDesk } from './schedule-callback.ts'
import { defineTool, type Tool, type ToolCall } from './tool.ts'

/** Whom a call is escalated to by its agent: the queue in which the task is. */
const QUEUE = 'default'

type Deps = { escalations: Pick<Escalations, 'escalate'>; tasks: CallbackDesk }

const PARAMETERS = strict({
  reason: Type.String({ minLength: 1, maxLength: 2_000, description: 'What the person has to know.' }),
})

/** Asks for a person: marks the call, tells the tenant, and adds a task, because nobody may be watching. */
export function escalateToHuman({ escalations, tasks }: Deps): Tool {
  /** Null where nobody could call back. */
  async function taskFor(reason: string, of: ToolCall, signal: AbortSignal): Promise<string | null> {
    const { tenant, callSid, sessionId, streamSid, agentName } = of
    const customerPhone = phoneNumberOf(of.customerPhone)
    if (customerPhone === null) return null
    const call = { callSid, sessionId, streamSid, agentName }
    const summary = redactorFor(tenant.compliance.redact_pii).text(reason)
    const callback = { customerPhone, call, priority: 'high' as const, summary, notes: null, dueAt: null }
    const task = await tasks.schedule(
      tenant,
      { ...callback, createdBy: agentName, metadata: { escalated: true } },
      signal,
    )
    return task.id
  }

  return defineTool({
    name: 'escalate_to_human',
    description:
      'Asks for a person: somebody may take this call over, or calls back. Use it when the caller wants a person, or needs what you cannot do. Then tell the caller so.',
    parameters: PARAMETERS,
    maxPerCall: 1,
    async run({ reason }, call, signal) {
      await escalations.escalate(call.tenant.tenant_id, call.callSid, QUEUE)
      call.controls.escalated(QUEUE)
      const taskId = await taskFor(reason, call, signal)
      return {
        output: {
          ok: true,
          ...(taskId === null ? { note: 'nobody can call back: the number is not known' } : { task_id: taskId }),
        },
      }
    },
  })
}
