import { type TSchema, Type } from 'typebox'
import { GovernanceEvaluation } from './agents/rollout-governance-shape.ts'
import { RolloutEntry } from './agents/rollout-shape.ts'
import { Campaign } from './calls/campaigns/campaign-shape.ts'
import { EXAMPLE_CALL, EXAMPLE_PAYLOADS } from './event-examples.ts'
import { CallbackTask } from './operators/callback-task-shape.ts'
import { DncEntry } from './operators/do-not-call-shape.ts'
import { BillingOutcome } from './records/billing-outcome.ts'
import { CallLog } from './records/call-log-shape.ts'
import { CALL_STATUSES } from './records/call-values.ts'
import { Evaluation } from './records/evaluations/evaluation-shape.ts'
import { Turn, VoiceSession, VoiceSessionSummary } from './records/voice-session-shape.ts'

/** An event that is sent: when, and what stands in its payload. */
export type CataloguedEvent = { event: keyof typeof EXAMPLE_PAYLOADS; when: string; payload: TSchema; hasCall: boolean }

const Recording = Type.Object({
  voice_session_id: Type.String(),
  call_sid: Type.String(),
  recording_url: Type.String({ description: "Below the service's address, for the tenant's API key." }),
  duration_ms: Type.Integer(),
  parts: Type.Integer({ description: 'Streams that it was recorded from.' }),
})

const log = Type.Object({ call_log: CallLog })
const ended = Type.Object({
  duration_seconds: Type.Integer({ minimum: 0 }),
  status: Type.Enum(CALL_STATUSES),
  call_log: CallLog,
})
const session = Type.Object({ voice_session: VoiceSessionSummary })
const task = Type.Object({ task: CallbackTask })
const entry = Type.Object({ entry: DncEntry })

/** Every event that this version sends to webhooks, in the order of a call; the last one goes to the operator's billing. */
export const EVENT_CATALOGUE: CataloguedEvent[] = [
  { event: 'voice.call.started', when: 'A call was answered.', payload: log, hasCall: true },
  {
    event: 'voice.call.answered',
    when: 'It is known who or what answered a call that was placed, or known better: `answered_by`. Again whenever that changes.',
    payload: log,
    hasCall: true,
  },
  { event: 'voice.session.started', when: 'The stream of a call began.', payload: session, hasCall: true },
  {
    event: 'voice.transcript.turn',
    when: 'Something was said, or its text was mended: the same `seq` replaces it. Sent only to those who name the event.',
    payload: Type.Object({ turn: Turn }),
    hasCall: true,
  },
  {
    event: 'voice.session.escalated',
    when: 'A person was asked to look after a call. Once for each call.',
    payload: Type.Object({ voice_session: VoiceSessionSummary, call_log: CallLog }),
    hasCall: true,
  },
  {
    event: 'voice.session.resumed',
    when: 'Another stream went on with a session whose stream was lost.',
    payload: session,
    hasCall: true,
  },
  {
    event: 'voice.session.completed',
    when: 'A session ended. Its payload has all that was said and done. Where the agent version asks for an `extraction` it comes with that, ten minutes later at most.',
    payload: Type.Object({ voice_session: VoiceSession }),
    hasCall: true,
  },
  {
    event: 'voice.call.failed',
    when: 'A call ended without having been completed: busy, no-answer, canceled or failed. Of one that came in and was not taken it comes 20 s later. One that no carrier has taken has no ids.',
    payload: log,
    hasCall: true,
  },
  {
    event: 'voice.call.completed',
    when: 'A call and its session are over, however it ended. Once for each call, with what is known by then (its call log has the last word), and not always its last event: who answered, where its carrier tells that late, its recording, its evaluation, a `voice.session.completed` that waits for its extraction, and whatever happens to a callback task that came of it may follow, with the numbers after this one.',
    payload: ended,
    hasCall: true,
  },
  {
    event: 'voice.recording.ready',
    when: 'The recording of a call can be read.',
    payload: Type.Object({ recording: Recording }),
    hasCall: true,
  },
  {
    event: 'voice.evaluation.completed',
    when: 'A session that has ended was scored, by the chat model or by a person. Again for each further score.',
    payload: Type.Object({ evaluation: Evaluation }),
    hasCall: true,
  },
  {
    event: 'callback.task.created',
    when: 'Somebody is to be called back. Without a call it has no ids.',
    payload: task,
    hasCall: true,
  },
  { event: 'callback.task.claimed', when: 'An operator took a task, or was given one.', payload: task, hasCall: true },
  { event: 'callback.task.snoozed', when: 'A task was put off.', payload: task, hasCall: true },
  {
    event: 'callback.task.woken',
    when: 'A task that was put off is open again: somebody woke it, or its time had come.',
    payload: task,
    hasCall: true,
  },
  { event: 'callback.task.dispatched', when: 'An agent calls the customer of a task.', payload: task, hasCall: true },
  {
    event: 'callback.task.completed',
    when: 'A task is done, by an operator or by the call of its dispatch.',
    payload: task,
    hasCall: true,
  },
  {
    event: 'callback.task.cancelled',
    when: 'A task is not to be done, or was called for in vain too often.',
    payload: task,
    hasCall: true,
  },
  {
    event: 'callback.task.reopened',
    when: 'A task is to be done again: somebody said so, or the call of its dispatch was in vain.',
    payload: task,
    hasCall: true,
  },
  {
    event: 'callback.task.reconciled',
    when: 'A task followed its ticket: completed because that was closed, or open again because that is.',
    payload: task,
    hasCall: true,
  },
  {
    event: 'operator_queue.sla_breached',
    when: 'A task was not done in time. Once for each time by which it was to be done.',
    payload: task,
    hasCall: true,
  },
  {
    event: 'operator_queue.follow_up_due',
    when: 'Whoever claimed a task is reminded of it.',
    payload: task,
    hasCall: true,
  },
  {
    event: 'operator_queue.escalated',
    when: 'A task is far too late, and more urgent now. Once for each time by which it was to be done.',
    payload: task,
    hasCall: true,
  },
  { event: 'dnc.added', when: 'A number was listed as one that must not be called.', payload: entry, hasCall: false },
  { event: 'dnc.removed', when: 'A number was taken off that list.', payload: entry, hasCall: false },
  {
    event: 'campaign.started',
    when: 'A campaign was started for the first time.',
    payload: Type.Object({ campaign: Campaign }),
    hasCall: false,
  },
  {
    event: 'campaign.completed',
    when: 'Everybody of a campaign was called, or will not be. Once for each campaign.',
    payload: Type.Object({ campaign: Campaign }),
    hasCall: false,
  },
  {
    event: 'rollout.rolled_back',
    when: 'Versions of an agent did badly and have lost their share. `rollouts` is what is left.',
    payload: Type.Object({ evaluation: GovernanceEvaluation, rollouts: Type.Array(RolloutEntry) }),
    hasCall: false,
  },
  {
    event: 'billing.outcome',
    when: 'A call and its session are over. Goes to BILLING_WEBHOOK_URL, once for each call of any tenant.',
    payload: Type.Object({ outcome: BillingOutcome }),
    hasCall: true,
  },
]

/** What is posted for an event of the catalogue. */
export function exampleOf({ event, hasCall }: CataloguedEvent) {
  return {
    event,
    tenant_id: 'acme',
    ...(hasCall ? EXAMPLE_CALL : { call_sid: '', voice_session_id: '' }),
    created_at: '2030-01-01T09:01:03.120Z',
    payload: EXAMPLE_PAYLOADS[event],
  }
}
