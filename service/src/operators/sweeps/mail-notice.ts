import type { Notify } from '../../delivery/notify.ts'
import { isUserOf } from '../../tenancy/user-store.ts'
import type { NotifyOperator, OperatorNotice } from './follow-up-sweep.ts'

/**
 * Tells operators by mail. Whoever is to be told is mailed at their own address if that is a person's of the tenant: to any
 * other one a tenant could have us write. Else the mail goes to NOTIFY_TO, and says who is meant.
 */
export function mailOperators(notify: Notify): NotifyOperator {
  return async (tx, { tenant_id: tenantId }, notice, now) => {
    const isPerson = await isUserOf(tx, tenantId, notice.to)
    const to = isPerson ? { to: notice.to } : {}
    return notify(tx, { event: `operator_queue.${notice.kind}`, tenantId, ...wordsOf(notice, tenantId), ...to }, now)
  }
}

/** Without the customer's number and what they want: those stay where they are looked after. */
function wordsOf({ kind, to, task }: OperatorNotice, tenantId: string): { subject: string; text: string } {
  const isReminder = kind === 'follow_up_due'
  const facts = [
    ['Tenant', tenantId],
    ['Queue', task.queue_key],
    ['Task', task.id],
    ['Priority', task.priority],
    ['To be done by', task.sla_due_at.toISOString()],
    // Written by the tenant: one line of it is one line here.
    [isReminder ? 'Claimed by' : 'Escalated to', to.replaceAll(/[\s\p{C}]+/gu, ' ')],
  ]
  const subject = isReminder ? `A callback waits in ${task.queue_key}` : `A callback is too late in ${task.queue_key}`
  const sentence = isReminder
    ? 'A callback task was claimed and is not done.'
    : 'A callback task was not done in time, and its priority was raised.'
  return { subject, text: [sentence, facts.map(([name, value]) => `${name}: ${value}`).join('\n')].join('\n\n') }
}
