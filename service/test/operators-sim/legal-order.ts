import type { TaskAction } from '../../src/operators/callback-task-history-store.ts'
import type { TaskStatus } from '../../src/operators/callback-task-values.ts'

/** Something that was done to a task, and what it was then. */
export type Change = { action: TaskAction; status: TaskStatus; atMs: number }

const LIVE: TaskStatus[] = ['open', 'claimed', 'snoozed', 'dispatching']
const ANY: TaskStatus[] = [...LIVE, 'completed', 'cancelled']

/** What may be done to a task of which status, and what it may be then; null: what it was. As the API promises it, written down anew. */
const MOVES: Record<TaskAction, { from: (TaskStatus | null)[]; to: TaskStatus[] | null }> = {
  create: { from: [null], to: ['open'] },
  edit: { from: ANY, to: null },
  acknowledge: { from: LIVE, to: null },
  claim: { from: ['open'], to: ['claimed'] },
  release: { from: ['claimed'], to: ['open'] },
  assign: { from: ['open', 'claimed'], to: ['claimed'] },
  snooze: { from: ['open', 'claimed'], to: ['snoozed'] },
  wake: { from: ['snoozed'], to: ['open'] },
  complete: { from: ['open', 'claimed', 'dispatching'], to: ['completed'] },
  cancel: { from: ['open', 'claimed', 'snoozed'], to: ['cancelled'] },
  reopen: { from: ['completed', 'cancelled'], to: ['open'] },
  dispatch: { from: ['open', 'claimed'], to: ['dispatching'] },
  settle: { from: ['dispatching'], to: ['completed', 'open', 'cancelled'] },
  alert: { from: LIVE, to: null },
  remind: { from: ['claimed'], to: null },
  escalate: { from: LIVE, to: null },
  reconcile: { from: ['open', 'claimed', 'snoozed', 'completed'], to: ['completed', 'open'] },
}

/**
 * Whether there is an order in which all of this may have been done to one task. What was done at the same instant may have
 * been done in any order.
 *
 * @param changes in the order of their instants.
 */
export function isLegal(changes: readonly Change[], status: TaskStatus | null = null): boolean {
  const [first] = changes
  if (!first) return true
  const together = changes.filter(({ atMs }) => atMs === first.atMs)
  return together.some((next, index) => isMove(status, next) && isLegal(changes.toSpliced(index, 1), next.status))
}

function isMove(status: TaskStatus | null, { action, status: then }: Change): boolean {
  const { from, to } = MOVES[action]
  return from.includes(status) && (to === null ? then === status : to.includes(then))
}
