export const TASK_STATUSES = ['open', 'claimed', 'snoozed', 'dispatching', 'completed', 'cancelled'] as const

export type TaskStatus = (typeof TASK_STATUSES)[number]

/** Those in which there is still something to do. */
export const LIVE_STATUSES = ['open', 'claimed', 'snoozed', 'dispatching'] as const satisfies TaskStatus[]

/** How the last attempt went. */
export const TASK_DISPOSITIONS = [
  'reached',
  'resolved',
  'no_answer',
  'busy',
  'voicemail',
  'wrong_number',
  'rescheduled',
  'do_not_call',
  'failed',
] as const

export type TaskDisposition = (typeof TASK_DISPOSITIONS)[number]

/** The most urgent first. */
export const TASK_PRIORITIES = ['urgent', 'high', 'normal', 'low'] as const

export type TaskPriority = (typeof TASK_PRIORITIES)[number]

/** The queue that every tenant has. */
export const DEFAULT_QUEUE = 'default'
