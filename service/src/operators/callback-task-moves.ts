import type { EventName } from '../tenancy/tenant-events.ts'
import type { TaskAction } from './callback-task-history-store.ts'
import type { TaskSettings } from './callback-task-move-store.ts'
import { LIVE_STATUSES, type TaskDisposition, type TaskStatus } from './callback-task-values.ts'

/** Who acts, and what they say to it. Null is what nobody said. */
export type Actor = { operator: string | null; note: string | null }

/** A change of a task that its status must allow. */
export type TaskMove = Actor & {
  action: TaskAction
  from: readonly TaskStatus[]
  set: TaskSettings
  /** What the tenant is told; null: nothing. */
  event: EventName | null
  details: Record<string, unknown>
}

const NOBODYS = { assigned_to: null, claimed_at: null }
const AWAKE = { snoozed_until: null, snooze_reason: null }

/** Somebody says that they have seen it: it stays what it is. */
export function acknowledge(operator: string, now: Date): TaskMove {
  const set = { acknowledged_at: now, acknowledged_by: operator }
  return { action: 'acknowledge', from: LIVE_STATUSES, set, event: null, ...said(operator, null) }
}

export function claim(operator: string, now: Date): TaskMove {
  const set = { ...takenBy(operator, now), unwanted_at: null }
  return { action: 'claim', from: ['open'], set, event: 'callback.task.claimed', ...said(operator, null) }
}

/** Gives it to somebody, whoever has it. @param by who does so. */
export function assign(operator: string, by: string | null, now: Date): TaskMove {
  const { event } = claim(operator, now)
  const details = { assigned_to: operator }
  return { action: 'assign', from: ['open', 'claimed'], set: takenBy(operator, now), event, ...said(by, null), details }
}

export function release({ operator, note }: Actor): TaskMove {
  const set = { status: 'open' as const, ...NOBODYS }
  return { action: 'release', from: ['claimed'], set, event: null, ...said(operator, note) }
}

export function snooze(until: Date, reason: string | null, operator: string | null): TaskMove {
  const set = { status: 'snoozed' as const, snoozed_until: until, snooze_reason: reason }
  const details = { until: until.toISOString() }
  const event = 'callback.task.snoozed'
  return { action: 'snooze', from: ['open', 'claimed'], set, event, ...said(operator, reason), details }
}

export function wake({ operator, note }: Actor): TaskMove {
  const set = { status: 'open' as const, ...NOBODYS, ...AWAKE }
  return { action: 'wake', from: ['snoozed'], set, event: 'callback.task.woken', ...said(operator, note) }
}

type Completion = { disposition: TaskDisposition; notes: string | null; operator: string | null }

/** Notes that are given replace those that it has, and blank ones take them away. */
export function complete({ disposition, notes, operator }: Completion, now: Date): TaskMove {
  const ended = { status: 'completed' as const, disposition, completed_at: now }
  const written = notes?.trim() ? notes : null
  return {
    action: 'complete',
    from: ['open', 'claimed', 'dispatching'],
    set: notes === null ? ended : { ...ended, notes: written },
    event: 'callback.task.completed',
    ...said(operator, written),
    details: { disposition },
  }
}

export function cancel({ operator, note }: Actor): TaskMove {
  const set = { status: 'cancelled' as const, ...AWAKE }
  const from = ['open', 'claimed', 'snoozed'] as const
  return { action: 'cancel', from, set, event: 'callback.task.cancelled', ...said(operator, note) }
}

const NOT_TO_BE_CALLED = 'The number is not to be called any more.'

/** Nobody is to be called for it. @param operator who says so. */
export function cancelUnwanted(operator: string | null): TaskMove {
  const { set, ...move } = cancel({ operator, note: NOT_TO_BE_CALLED })
  return { ...move, set: { ...set, disposition: 'do_not_call' } }
}

export function reopen({ operator, note }: Actor): TaskMove {
  const undone = { disposition: null, completed_at: null, dispatch_attempt_count: 0, unwanted_at: null }
  const set = { status: 'open' as const, ...undone, ...NOBODYS }
  const from = ['completed', 'cancelled'] as const
  return { action: 'reopen', from, set, event: 'callback.task.reopened', ...said(operator, note) }
}

function takenBy(operator: string, now: Date) {
  return { status: 'claimed' as const, assigned_to: operator, claimed_at: now }
}

function said(operator: string | null, note: string | null): Actor & { details: Record<string, unknown> } {
  return { operator, note, details: {} }
}
