import type { NodeId, TenantId } from '../kernel/ids.ts'
import type { Bus } from '../platform/bus/port.ts'
import type { AskedAction } from './live-actions.ts'
import type { DoneAction, ShownCall } from './live-calls.ts'
import type { LiveEvent } from './live-events.ts'

/** What one node asks another about the calls that are there. The tenant is part of each question, and checked there. */
export type CallQuestion =
  | { type: 'list'; tenantId: TenantId }
  | { type: 'get'; tenantId: TenantId; streamSid: string }
  | { type: 'act'; tenantId: TenantId; streamSid: string; asked: AskedAction }
  | { type: 'watch'; tenantId: TenantId; streamSid: string; afterId: number; watchId: string; watcher: NodeId }
  /** The watcher is still there. */
  | { type: 'renew'; watchId: string }
  | { type: 'unwatch'; watchId: string }

/** What is kept of a call since the event that a watcher has, and the id of its newest event. */
export type WatchBegun = { kept: LiveEvent[]; lastId: number }

/** What each question is answered with. */
type Answers = {
  list: ShownCall[]
  get: ShownCall
  act: DoneAction
  watch: WatchBegun
  /** False for a watch that is not known any more. */
  renew: boolean
  unwatch: boolean
}

/** An event on its way to the node that watches. */
export type WatchedEvent = { watchId: string; event: LiveEvent }

/** Of one tenant on a node: each is told all that happens in its call, on the thread that plays what is said. */
export const WATCHERS_OF_TENANT = {
  max: 100,
  tooMany: 'Your calls are watched 100 times already: close a stream first.',
}

/** Within this time the node that has a call answers, or is taken to be away; its carrier may have to be waited for. */
const ANSWER_WITHIN_MS = 2_000
const CARRIER_WITHIN_MS = 8_000
/** The node that ends a call waits for the carrier four seconds at most. */
const END_WITHIN_MS = 6_000
const WITHIN_MS: Record<string, number> = { transfer: CARRIER_WITHIN_MS, end_call: END_WITHIN_MS }

/** Where a node is asked about its calls, and where it is told of calls that it watches. */
export const callsTopic = (node: NodeId): string => `calls/${node}`
export const watchTopic = (node: NodeId): string => `watch/${node}`

/** Asks another node about its calls. @throws AppError `unavailable` when it does not answer, or the one that it answers. */
export async function askNode<Question extends CallQuestion>(bus: Bus, node: NodeId, question: Question) {
  // Sound between nodes of one version: a further answer is a further question.
  const withinMs = (question.type === 'act' && WITHIN_MS[question.asked.action]) || ANSWER_WITHIN_MS
  return (await bus.ask(callsTopic(node), question, withinMs)) as Answers[Question['type']]
}
