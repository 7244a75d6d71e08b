import { Type } from 'typebox'
import type { Clock } from '../../kernel/clock.ts'
import { LocalTime } from '../../kernel/local-time.ts'
import { E164_PATTERN, type PhoneNumber, phoneNumberOf } from '../../kernel/phone.ts'
import { redactorFor } from '../../kernel/redaction/redact.ts'
import type { CallbackTaskRow } from '../../operators/callback-task-store.ts'
import type { CallbackTasks } from '../../operators/callback-tasks.ts'
import { strict } from '../../platform/http/schemas.ts'
import { numberOfCall } from './number-of-call.ts'
import { defineTool, type Tool, ToolRefusal } from './tool.ts'

/** What the model meant as "now" is a moment ago when it arrives. */
const PAST_MS = 300_000
const FUTURE_MS = 365 * 86_400_000
const UNKNOWN = 'the number of this call is not known: ask for one'

/** Where callbacks are asked for. */
export type CallbackDesk = {
  schedule(...asked: Parameters<CallbackTasks['schedule']>): Promise<Pick<CallbackTaskRow, 'id' | 'due_at'>>
}

const PARAMETERS = strict({
  phone: Type.Optional(
    Type.String({ pattern: E164_PATTERN, description: 'The number, in E.164. Default: the number of this call.' }),
  ),
  when: Type.Optional(
    Type.String({ format: 'date-time', description: 'When to call, with the zone. Default: as soon as possible.' }),
  ),
  summary: Type.String({ minLength: 1, maxLength: 2_000, description: 'What the callback is about.' }),
  priority: Type.Optional(Type.Enum(['low', 'normal', 'high', 'urgent'], { description: 'Default normal.' })),
})

type Deps = {
  tasks: CallbackDesk
  clock: Clock
  /** Why a number is never called, or null. */
  costlyKind?(phone: PhoneNumber): string | null
}

/** Has somebody call back: adds a task for the people of the tenant. */
export function scheduleCallback({ tasks, clock, costlyKind = () => null }: Deps): Tool {
  /** @throws ToolRefusal for an instant that is past, or a year away: it says what time it is, which the model only knows of the call's beginning. */
  function dueAt(when: string | undefined, zone: string): Date | null {
    if (when === undefined) return null
    const now = clock.now()
    const inMs = Date.parse(when) - now
    const isNow = () => `it is now ${new LocalTime().written(zone, now)}`
    if (inMs < -PAST_MS) throw new ToolRefusal(`when is in the past: ${isNow()}`)
    if (inMs > FUTURE_MS) throw new ToolRefusal(`when is more than a year away: ${isNow()}`)
    return new Date(when)
  }

  /** @throws ToolRefusal for a number that is possible nowhere, or that nobody would call back. */
  function givenNumber(given: string): PhoneNumber {
    const phone = phoneNumberOf(given)
    if (phone === null) throw new ToolRefusal('phone is not a possible number: ask for it again')
    const kind = costlyKind(phone)
    if (kind !== null) throw new ToolRefusal(`phone is ${kind}, and those are never called: ask for another one`)
    return phone
  }

  return defineTool({
    name: 'schedule_callback',
    description:
      'Has a person call back. Tell the caller when that will be. Ask for the number only when the caller wants another one than the one of this call.',
    parameters: PARAMETERS,
    maxPerCall: 3,
    async run({ phone, when, summary, priority = 'normal' }, { tenant, customerPhone, ...call }, signal) {
      const { callSid, sessionId, streamSid, agentName } = call
      const zone = tenant.compliance.timezone ?? 'UTC'
      const callback = {
        customerPhone: phone === undefined ? numberOfCall(customerPhone, UNKNOWN) : givenNumber(phone),
        call: { callSid, sessionId, streamSid, agentName },
        priority,
        // The number to call is the task's own; what is written about it is not called.
        summary: redactorFor(tenant.compliance.redact_pii).text(summary),
        notes: null,
        dueAt: dueAt(when, zone),
        createdBy: agentName,
        metadata: {},
      }
      const { id, due_at: due } = await tasks.schedule(tenant, callback, signal)
      // The caller is told, and lives by the clocks of the tenant.
      const due_at = due === null ? 'as soon as possible' : new LocalTime().written(zone, due.getTime())
      return { output: { ok: true, task_id: id, due_at } }
    },
  })
}
