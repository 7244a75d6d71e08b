import type { Clock } from './clock.ts'
import { makeSid } from './sid.ts'

/** Where a call stands. `initiated` is only ever the name of a callback's event. */
export type CallStatus =
  | 'queued'
  | 'ringing'
  | 'in-progress'
  | 'completed'
  | 'busy'
  | 'failed'
  | 'no-answer'
  | 'canceled'

/** Who began a call, in the carrier's words. */
export type CallDirection = 'inbound' | 'outbound-api' | 'outbound-dial'

/** What is known of a call from its beginning. */
export type CallIdentity = {
  accountSid: string
  from: string
  to: string
  direction: CallDirection
  parentSid: string | null
}

const RANK: Record<CallStatus, number> = {
  queued: 0,
  ringing: 1,
  'in-progress': 2,
  completed: 3,
  busy: 3,
  failed: 3,
  'no-answer': 3,
  canceled: 3,
}

/** Whether a call in this state is over. */
export function isOver(status: CallStatus): boolean {
  return RANK[status] === RANK.completed
}

/** The carrier's record of a call: it moves forward only, and the first end stays. */
export class CallRecord {
  readonly sid = makeSid('CA')
  readonly identity: CallIdentity
  readonly createdAt: Date
  answeredBy: string | null = null
  queueMs = 0
  #clock: Clock
  #status: CallStatus
  #startedAt: Date | null = null
  #answeredAt: Date | null = null
  #endedAt: Date | null = null

  constructor(clock: Clock, identity: CallIdentity) {
    this.#clock = clock
    this.identity = identity
    this.createdAt = clock.date()
    this.#status = identity.direction === 'inbound' ? 'ringing' : 'queued'
    if (identity.direction === 'inbound') this.#startedAt = this.createdAt
  }

  get status(): CallStatus {
    return this.#status
  }

  /** Whether anybody took the call. */
  get isAnswered(): boolean {
    return this.#answeredAt !== null
  }

  /** From the answer to the end (or now); 0 when nobody answered. */
  get answeredForMs(): number {
    if (!this.#answeredAt) return 0
    const end = this.#endedAt ?? this.#clock.date()
    return end.getTime() - this.#answeredAt.getTime()
  }

  /** The same in whole seconds. */
  get durationSeconds(): number {
    return Math.round(this.answeredForMs / 1000)
  }

  /** Moves to a later state; false, and nothing changes, when the call is already there or past it. */
  move(status: CallStatus): boolean {
    if (RANK[status] <= RANK[this.#status]) return false
    this.#status = status
    const now = this.#clock.date()
    this.#startedAt ??= now
    if (status === 'in-progress') this.#answeredAt = now
    if (isOver(status)) this.#endedAt = now
    return true
  }

  /** The record as the REST surface shows it. */
  toJson(): Record<string, unknown> {
    const { accountSid, from, to, direction, parentSid } = this.identity
    return {
      sid: this.sid,
      account_sid: accountSid,
      api_version: '2010-04-01',
      from,
      from_formatted: from,
      to,
      to_formatted: to,
      status: this.#status,
      direction,
      date_created: this.createdAt.toUTCString(),
      date_updated: (this.#endedAt ?? this.#startedAt ?? this.createdAt).toUTCString(),
      start_time: this.#startedAt?.toUTCString() ?? null,
      end_time: this.#endedAt?.toUTCString() ?? null,
      duration: this.#endedAt ? String(this.durationSeconds) : null,
      answered_by: this.answeredBy,
      price: null,
      price_unit: 'USD',
      parent_call_sid: parentSid,
      phone_number_sid: null,
      queue_time: String(Math.round(this.queueMs)),
      caller_name: null,
      forwarded_from: null,
      group_sid: null,
      trunk_sid: null,
      annotation: null,
      uri: `/2010-04-01/Accounts/${accountSid}/Calls/${this.sid}.json`,
      subresource_uris: {},
    }
  }
}
