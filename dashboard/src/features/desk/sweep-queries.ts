import { answerOf, api } from '../../api/client.ts'

/** A task as a sweep tells of it; what is behind its outcome differs from sweep to sweep. */
export type SweptTask = {
  tenant_id: string
  task_id: string
  queue_key: string
  outcome: string
  sla_due_at?: string
  snoozed_until?: string
  assigned_to?: string | null
  priority?: string
  escalation_target?: string | null
  call_sid?: string | null
  attempt?: number
  ticket_id?: string
  ticket_status?: string
  code?: string
  reason?: string
}

/** What a sweep could not do. */
export type SweepFailure = { tenant_id: string; task_id?: string; error: string }

/** What a sweep did. */
export type SweepResult = {
  /** As the API calls them, in its order. */
  counts: [name: string, count: number][]
  items: SweptTask[]
  failures: SweepFailure[]
}

type Sweep = { name: string; says: string; isGrave: boolean; run: () => Promise<SweepResult> }

const told = { params: { query: { emit_webhooks: true } } }

/** What the service does by itself every half a minute, and what a dispatch would do. */
export const SWEEPS: Sweep[] = [
  {
    name: 'Show what would be dispatched',
    says: 'Nothing is done: you see which tasks agents would call for, and what speaks against the others.',
    isGrave: false,
    run: async () => {
      const params = { query: { dry_run: true } }
      return resultOf(await answerOf(api.POST('/api/v1/admin/operator-queues/dispatch', { params })))
    },
  },
  {
    name: 'Dispatch',
    says: 'Agents call for the tasks that are due, in the queues that are set so, of all tenants.',
    isGrave: true,
    run: async () => resultOf(await answerOf(api.POST('/api/v1/admin/operator-queues/dispatch', told))),
  },
  {
    name: 'Tell what is late',
    says: 'Tasks of all tenants that were not done in time are noted and told, once each.',
    isGrave: false,
    run: async () => resultOf(await answerOf(api.POST('/api/v1/admin/operator-queues/sweep', told))),
  },
  {
    name: 'Wake, remind, escalate',
    says: 'Tasks of all tenants: what was put off until now is opened, who claimed one is reminded, what is far too late is escalated.',
    isGrave: false,
    run: async () =>
      resultOf(await answerOf(api.POST('/api/v1/admin/operator-queues/follow-up-notifications/sweep', told))),
  },
  {
    name: 'Follow the tickets',
    says: 'Tasks of all tenants follow the tickets that they name.',
    isGrave: false,
    run: async () =>
      resultOf(await answerOf(api.POST('/api/v1/admin/operator-queues/external-reconciliation/sweep', told))),
  },
]

/** Each sweep counts something else: what is a number is a count. */
function resultOf({ result }: { result: object }): SweepResult {
  const counts = Object.entries(result).filter((entry): entry is [string, number] => typeof entry[1] === 'number')
  const { items, failures } = result as Pick<SweepResult, 'items' | 'failures'>
  return { counts, items, failures }
}
