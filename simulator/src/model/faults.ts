import { boolean, integer, list, object, oneOf, type Shaped, text } from './shape.ts'

const MS_MAX = 3_600_000
const COUNT_MAX = 1_000_000
const ms = integer(0, MS_MAX)
const count = integer(0, COUNT_MAX)

/** Where in a session's stream of server events something happens; the first of these that is given decides. */
const moment = {
  /** After so many server events. */
  after_events: count,
  /** After an event of this type … */
  on_event: text(),
  /** … the how-manieth of them; 1 unless told. */
  nth: count,
  /** So long after the session opened, or after the faults were set. */
  after_ms: ms,
}

const momentShape = object({}, moment)

/** How a connection is lost: a polite close frame, a bare end, a reset, or silence on a socket that stays open. */
const manner = oneOf(['close', 'fin', 'rst', 'black_hole'])

/** Codes with which the real server fails a whole response; one that is kept back for what is said in it is incomplete. */
const failure = oneOf(['rate_limit_exceeded', 'insufficient_quota', 'server_error', 'content_filter'])

const switches = {
  /** F30: the TCP connection is reset before any answer. */
  refuse: boolean,
  /** F31, F32 and the rest: the HTTP status with which the upgrade is refused (401, 403, 404, 429, 500, 503). */
  handshake_status: integer(400, 599),
  /** How long the upgrade waits. */
  handshake_delay_ms: ms,
  /** The session opens, says this error and closes (`model_not_found`, `insufficient_quota`, …). */
  open_error: text(),
  /** F33: `session.update` is never answered. */
  ignore_session_update: boolean,
  /** F34: every `session.update` is refused with this code. */
  reject_session_update: text(),
  /** F35, F36, F37: the connection is lost at a moment. `code` is that of a close frame. */
  cut: object({ manner }, { ...moment, code: integer(1000, 4999) }),
  /** Server events stop at a moment, wait, and then all come. */
  stall: object({ stall_ms: ms }, moment),
  /** F38: the session ends at a moment as one that has reached its longest duration. */
  expire: momentShape,
  /** F39, F40: responses fail with this code; `count` of them, all unless told. */
  fail_response: object({ code: failure }, { count }),
  /** F41: audio deltas that still come after a response was cancelled, before its `response.done` or after it. */
  late_deltas: object({ deltas: count }, { after_done: boolean }),
  /** F42: so many `response.create` are refused as if a response were active. */
  active_response_count: count,
  /** F43: so many truncations are refused. */
  truncate_error_count: count,
  /** F44: the caller's transcripts never come, come late, come after the next one's, or fail. */
  transcripts: object({ how: oneOf(['never', 'late', 'swapped', 'failed']) }, { late_ms: ms }),
  /** F45: before every n-th event there is one of a type that nobody knows. */
  unknown_event_every: integer(1, COUNT_MAX),
  /** F45: one event of this size, right after the session was updated. */
  huge_event_bytes: integer(1, 64 * 1024 * 1024),
  /** How much longer each response takes to its first delta. */
  slow_first_byte_ms: ms,
}

const modelFaults = object({}, switches)
const faultPlans = list(object({}, { ...switches, sessions: list(integer(1, COUNT_MAX)) }))

/** A moment in a session's stream of server events. */
export type Moment = Shaped<typeof momentShape>
/** How a connection is lost. */
export type CutManner = Shaped<typeof manner>
/** Codes with which a whole response fails. */
export type ResponseFailure = Shaped<typeof failure>
/**
 * What goes wrong in a session, by switch; an absent switch is off. The numbers at the switches are those of the fault
 * list that the tests go by. What is counted is counted down in each session and is off at 0.
 */
export type ModelFaults = Shaped<typeof modelFaults>
/** Faults for some sessions: those whose ordinal (attempts counted from 1 since the faults were set) is in `sessions`, else all. */
export type FaultPlan = Shaped<typeof faultPlans>[number]

/** Checks the faults of one session. @throws ModelError that names the field. */
export function readFaults(value: unknown, path: string): ModelFaults {
  return modelFaults(value, path)
}

/** Checks faults for sessions to come. @throws ModelError that names the field. */
export function readFaultPlans(value: unknown, path: string): FaultPlan[] {
  return faultPlans(value, path)
}

/** The faults of sessions that are yet to open. A running session has its own, which can be replaced. */
export class FaultSwitches {
  #plans: FaultPlan[] = []
  #attempts = 0

  /** Replaces all faults; the counting of sessions begins anew. Returns what puts the ones before back, counted as they were. */
  set(plans: FaultPlan[]): () => void {
    const [before, attempts] = [this.#plans, this.#attempts]
    this.#plans = plans
    this.#attempts = 0
    return () => {
      this.#plans = before
      this.#attempts = attempts
    }
  }

  /** The faults of a session about to open: a copy that is the session's own. */
  forNextSession(): ModelFaults {
    this.#attempts++
    const mine = this.#plans.filter(({ sessions }) => !sessions || sessions.includes(this.#attempts))
    const { sessions: _, ...faults }: FaultPlan = Object.assign({}, ...mine)
    return structuredClone(faults)
  }
}
