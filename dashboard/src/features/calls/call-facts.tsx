import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type Fact, Facts } from '../../components/facts.tsx'
import { Instant } from '../../components/instant.tsx'
import { LOCALE } from '../../components/locale.ts'
import { Panel } from '../../components/panel.tsx'
import { durationText, phoneText, usdText, words } from '../../components/text.ts'
import styles from './call-facts.module.css'
import type { CallLog, VoiceSession } from './call-queries.ts'
import { howEnded } from './call-text.ts'

type CallFactsProps = { call: CallLog; session: VoiceSession | undefined }

/** What is known of a call, beside what was said in it. */
export function CallFacts({ call, session }: CallFactsProps) {
  const { summary, error_code: errorCode, error_message: errorMessage } = call
  return (
    <Panel title="The call">
      {summary && (
        <p className={styles.summary} dir="auto">
          {summary}
        </p>
      )}
      {errorCode && (
        <p className={styles.error}>
          <span className="mono">{errorCode}</span> {errorMessage}
        </p>
      )}
      <Facts
        facts={[
          ...callFacts(call),
          ...linkFacts(call),
          ...(session ? [howItEnded(call, session), ...sessionFacts(session)] : []),
        ]}
      />
      {session?.extraction_reason && <p>{session.extraction_reason}</p>}
      {session?.extraction && (
        <details className={styles.metadata} open>
          <summary>Extraction</summary>
          <pre>{JSON.stringify(session.extraction, null, 2)}</pre>
        </details>
      )}
      {Object.keys(call.metadata).length > 0 && (
        <details className={styles.metadata}>
          <summary>Metadata</summary>
          <pre>{JSON.stringify(call.metadata, null, 2)}</pre>
        </details>
      )}
    </Panel>
  )
}

function callFacts(call: CallLog): Fact[] {
  const seconds = call.duration_seconds
  const agent = call.agent_name ?? call.agent_key
  const version = call.version_number === null ? '' : `, version ${call.version_number}`
  return [
    ['Begun', <Instant key="begun" at={call.started_at ?? call.created_at} />],
    ['Answered', <Instant key="answered" at={call.answered_at} />],
    ['Ended', <Instant key="ended" at={call.ended_at} />],
    ['Length', seconds === null ? null : durationText(seconds)],
    ['Direction', words(call.direction)],
    [
      'Agent',
      agent && (
        <span key="agent">
          <bdi>{agent}</bdi>
          {version}
        </span>
      ),
    ],
    ['Answered by', answeredByText(call)],
    ...known('Placed by', call.placed_by && <bdi key="placed">{call.placed_by}</bdi>),
    ...known('Cancelled by', call.canceled_by && <bdi key="cancelled">{call.canceled_by}</bdi>),
    ...(call.escalated ? [escalation(call)] : []),
    [
      'Call id',
      <span key="sid" className="mono">
        {call.call_sid}
      </span>,
    ],
  ]
}

const SOURCES: Record<string, string> = {
  carrier: 'as the carrier says',
  words: 'by what was said',
  tone: 'by a tone',
  cadence: 'by how long it spoke',
}

/** Who or what answered, and how that is known. */
function answeredByText({ answered_by: by, answered_by_source: source }: CallLog): string {
  return by && source ? `${words(by)}, ${SOURCES[source] ?? words(source)}` : words(by)
}

function escalation({ escalation_target: target }: CallLog): Fact {
  return target ? ['Escalated to', phoneText(target)] : ['Escalated', 'Yes']
}

/** What the call was placed for. */
function linkFacts({ tenant_id: tenantId, callback_task_id: taskId, campaign_id: campaignId }: CallLog): Fact[] {
  const task = taskId && (
    <Link key="task" to="/t/$tenantId/desk/tasks/$taskId" params={{ tenantId, taskId }}>
      The task
    </Link>
  )
  const campaign = campaignId && (
    <Link key="campaign" to="/t/$tenantId/campaigns/$campaignId" params={{ tenantId, campaignId }}>
      The campaign
    </Link>
  )
  return [...known('Callback task', task), ...known('Campaign', campaign)]
}

/** A fact that stands there only where it is one. */
function known(name: string, value: ReactNode): Fact[] {
  return value ? [[name, value]] : []
}

const SPEAKERS: Record<string, string> = { primary: 'The model', secondary: 'The secondary provider' }

function howItEnded(call: CallLog, { end_reason }: VoiceSession): Fact {
  return ['How it ended', howEnded(call, end_reason)]
}

function sessionFacts({
  latency,
  usage,
  model,
  voice,
  outcome,
  outcome_notes: notes,
  audio_output_provider: speaker,
  resumed_count,
  tags,
  cost_usd: cost,
  extraction_status,
}: VoiceSession): Fact[] {
  const ms = (value: number | null) => (value === null ? null : `${value} ms`)
  const tokens = (count: number) => count.toLocaleString(LOCALE)
  return [
    ['Outcome', words(outcome)],
    ...known('Notes on the outcome', notes),
    ['Answers after the turn (median)', ms(latency.response_p50_ms)],
    ['Answers after the turn (95%)', ms(latency.response_p95_ms)],
    ['Interruptions', latency.interruptions],
    ['Model', model ?? 'Default'],
    ['Voice', voice ?? 'Default'],
    ['Who spoke', SPEAKERS[speaker] ?? words(speaker)],
    ['Tokens in', `${tokens(usage.input_tokens)} (${tokens(usage.cached_tokens)} cached)`],
    ['Tokens out', tokens(usage.output_tokens)],
    ['Audio', durationText(usage.audio_seconds)],
    ['Model cost', cost === null ? null : usdText(cost)],
    ...known('Extraction', extraction_status && words(extraction_status)),
    ...known('Taken up again', resumed_count > 0 && (resumed_count === 1 ? 'Once' : `${resumed_count} times`)),
    ...known('Tags', tags.join(', ')),
  ]
}
