import { Link } from '@tanstack/react-router'
import { type Fact, Facts } from '../../components/facts.tsx'
import { Instant } from '../../components/instant.tsx'
import { Panel } from '../../components/panel.tsx'
import { words } from '../../components/text.ts'
import styles from './desk.module.css'
import type { Task } from './task-queries.ts'
import { ticketAddress, ticketOf } from './task-ticket.ts'

/** What is wanted, and what is known of it. */
export function TaskFacts({ tenantId, task }: { tenantId: string; task: Task }) {
  return (
    <Panel title="What is wanted">
      <p className={styles.text} dir="auto">
        {task.summary ?? 'Nobody has said what it is about.'}
      </p>
      {task.notes && (
        <p className={styles.notes} dir="auto">
          {task.notes}
        </p>
      )}
      <Facts facts={[...wantedFacts(task), ...doneFacts(task), ...calledFacts(tenantId, task)]} />
    </Panel>
  )
}

function wantedFacts(task: Task): Fact[] {
  return [
    ['Queue', task.queue_key],
    ['Claimed by', task.assigned_to],
    ['Asked for', <Instant key="asked" at={task.created_at} />],
    ...ifSet('Created by', task.created_by),
    ['To be called', task.due_at === null ? 'As soon as possible' : <Instant key="due" at={task.due_at} />],
    ['To be done by', <Instant key="sla" at={task.sla_due_at} />],
    ...ifSince('Last SLA alert', task.last_sla_alerted_at),
    ...ticketFacts(task),
  ]
}

function doneFacts(task: Task): Fact[] {
  return [
    ...ifSince('Claimed at', task.claimed_at),
    ['Seen by', task.acknowledged_by],
    ...ifSince('Seen at', task.acknowledged_at),
    ...ifSet('Put off because', task.snooze_reason),
    ['How it went', task.disposition && words(task.disposition)],
    ...ifSince('Completed at', task.completed_at),
  ]
}

function calledFacts(tenantId: string, task: Task): Fact[] {
  const last = task.last_dispatch_call_sid
  const call = last !== null && (
    <Link to="/t/$tenantId/calls/$callSid" params={{ tenantId, callSid: last }}>
      {words(task.last_dispatch_status)}
    </Link>
  )
  return [
    ['Agent', task.agent_name],
    ['Calls by agents', task.dispatch_attempt_count],
    ...ifSince('Last tried at', task.last_dispatch_attempted_at),
    ...(call ? [['The last of them', call] satisfies Fact] : []),
  ]
}

function ticketFacts({ metadata }: Task): Fact[] {
  const ticket = ticketOf(metadata)
  const address = ticketAddress(ticket)
  const text = ticket.id || ticket.url
  if (address === null) return ifSet('Ticket', text)
  const link = (
    <a href={address} target="_blank" rel="noopener">
      {text}
    </a>
  )
  return [['Ticket', link]]
}

/** Of what is not set nothing is said. */
function ifSet(name: string, text: string | null): Fact[] {
  return text ? [[name, text]] : []
}

function ifSince(name: string, at: string | null): Fact[] {
  return at === null ? [] : [[name, <Instant key={name} at={at} />]]
}
