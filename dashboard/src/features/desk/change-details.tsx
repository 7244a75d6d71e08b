import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Instant } from '../../components/instant.tsx'
import { words } from '../../components/text.ts'
import styles from './desk.module.css'
import type { TaskChange } from './task-queries.ts'

type Details = TaskChange['details']

/** What the fields of a task are called in the form in which it is edited, in their order there. */
const FIELD_NAMES = {
  ...{ summary: 'what is wanted', notes: 'notes', queue_key: 'queue', priority: 'priority' },
  ...{ due_at: 'to be called', sla_due_at: 'to be done by', metadata: 'ticket or other metadata' },
}

/** What more is known of a change than who did it, in words. What a later version of the service notes is left out. */
export function ChangeDetails({ tenantId, details }: { tenantId: string; details: Details }) {
  const told: [name: string, words: ReactNode][] = [
    ['fields', fieldsOf(details)],
    ['assigned_to', named(details, 'assigned_to', 'For')],
    ['until', instant(details, 'until', 'Until')],
    ['sla_due_at', instant(details, 'sla_due_at', 'It was to be done by')],
    ['priority', priorityOf(details)],
    ['escalation_target', named(details, 'escalation_target', 'Told to')],
    ['ticket', ticketOf(details)],
    ['attempt', attemptOf(details)],
    ['call', callOf(tenantId, details)],
    ['disposition', named(details, 'disposition', 'How it went:', words)],
  ]
  return told.map(
    ([name, text]) =>
      text && (
        <p key={name} className={styles.text}>
          {text}
        </p>
      ),
  )
}

const textAt = (details: Details, name: string) => {
  const value = details[name]
  return typeof value === 'string' && value !== '' ? value : null
}

function named(details: Details, name: string, before: string, shown = (text: string) => text): ReactNode {
  const text = textAt(details, name)
  return text && `${before} ${shown(text)}`
}

function instant(details: Details, name: string, before: string): ReactNode {
  const at = textAt(details, name)
  return (
    at && (
      <>
        {before} <Instant at={at} />
      </>
    )
  )
}

function fieldsOf({ fields }: Details): ReactNode {
  if (!Array.isArray(fields)) return null
  const names = Object.entries(FIELD_NAMES).flatMap(([field, name]) => (fields.includes(field) ? [name] : []))
  return names.length > 0 && `Changed: ${names.join(', ')}`
}

function priorityOf(details: Details): ReactNode {
  const [before, after] = [textAt(details, 'before'), textAt(details, 'priority')]
  if (after === null) return null
  return before === null || before === after ? `Priority ${after}` : `Priority ${after} in place of ${before}`
}

function ticketOf(details: Details): ReactNode {
  const [id, status] = [textAt(details, 'ticket_id'), textAt(details, 'ticket_status')]
  return id && `Ticket ${id} is ${status ?? 'followed'}`
}

function attemptOf({ attempt }: Details): ReactNode {
  return typeof attempt === 'number' && `Call ${attempt} by an agent`
}

function callOf(tenantId: string, details: Details): ReactNode {
  const [callSid, status] = [textAt(details, 'call_sid'), textAt(details, 'call_status')]
  if (callSid === null) return status && `The call: ${words(status)}`
  return (
    <>
      The call:{' '}
      <Link to="/t/$tenantId/calls/$callSid" params={{ tenantId, callSid }}>
        {words(status ?? 'queued')}
      </Link>
    </>
  )
}
