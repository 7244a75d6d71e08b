import { Button } from '@mantine/core'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { usePerson } from '../../api/session.ts'
import { EmptyState, LastReadFailed } from '../../components/empty-state.tsx'
import { FailureState } from '../../components/failure-state.tsx'
import { FilterBar, FilterChoice, FilterText } from '../../components/filters.tsx'
import { JsonView } from '../../components/json-view.tsx'
import { LOCALE } from '../../components/locale.ts'
import { Page } from '../../components/page.tsx'
import { StatusBadge, type Tone } from '../../components/status-badge.tsx'
import type { LogFilters } from './log-filters.ts'
import styles from './logs-page.module.css'
import { type Log, type LogLine, useLog } from './use-log.ts'

const TONES: Record<string, Tone> = { debug: 'quiet', info: 'busy', warn: 'wait', error: 'bad', fatal: 'bad' }
const TIME = new Intl.DateTimeFormat(LOCALE, { hour: '2-digit', minute: '2-digit', second: '2-digit' })
/** What stands in the head of a line, or says nothing to a person. */
const IN_HEAD = new Set(['time', 'level', 'msg', 'tenant_id', 'pid', 'hostname'])

/** The log, as it is written. */
export function LogsPage() {
  const filters: LogFilters = useSearch({ strict: false })
  const [isPaused, setPaused] = useState(false)
  const { tenantId } = usePerson()
  const log = useLog(filters, isPaused)
  return (
    <Page
      title="Logs"
      description="What the service notes, newest first. Numbers and names are masked."
      actions={
        <Button variant="default" onClick={() => setPaused(!isPaused)}>
          {isPaused ? 'Go on' : 'Pause'}
        </Button>
      }
    >
      <FilterBar>
        <FilterChoice name="level" label="From level" choices={Object.keys(TONES)} />
        <FilterText name="q" label="Words" />
        <FilterText name="call_sid" label="Call" placeholder="CA…" />
        {tenantId === null && <FilterText name="tenant_id" label="Tenant" />}
      </FilterBar>
      {log.failure && !isPaused && <FailureState error={log.failure} />}
      <LogState log={log} isPaused={isPaused} />
      {log.lines.length === 0 ? (
        <LastReadFailed value={log.failure !== null}>
          <EmptyState title="No line yet">Lines stand here as soon as something happens that they tell of.</EmptyState>
        </LastReadFailed>
      ) : (
        <ol className={styles.lines}>
          {log.lines.map((each) => (
            <Line key={each.id} {...each} />
          ))}
        </ol>
      )}
    </Page>
  )
}

function LogState({ log: { isOpen, dropped, lines }, isPaused }: { log: Log; isPaused: boolean }) {
  const [tone, word] = isPaused
    ? (['quiet', 'Paused'] as const)
    : isOpen
      ? (['busy', 'Live'] as const)
      : (['wait', 'Connecting'] as const)
  return (
    <div className={styles.state}>
      <StatusBadge tone={tone}>{word}</StatusBadge>
      <span>{lines.length === 1 ? '1 line' : `${lines.length} lines`}</span>
      {dropped > 0 && <span>{dropped} came too fast and are not shown</span>}
    </div>
  )
}

function Line({ line }: LogLine) {
  const { level, msg, time, tenant_id: tenant } = line
  const rest = Object.entries(line).filter(([name]) => !IN_HEAD.has(name))
  return (
    <li className={styles.line}>
      <details>
        <summary className={styles.head}>
          <span className={styles.time}>{timeOf(time)}</span>
          <StatusBadge tone={TONES[textOf(level)] ?? 'quiet'}>{textOf(level)}</StatusBadge>
          <span>{textOf(msg)}</span>
          {tenant !== null && <span className={styles.time}>{textOf(tenant)}</span>}
          <span className={styles.rest}>{rest.map(([name, value]) => `${name}=${textOf(value)}`).join(' ')}</span>
        </summary>
        <JsonView label="The line" value={line} />
      </details>
    </li>
  )
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null)
}

function timeOf(time: unknown): string {
  const date = new Date(textOf(time))
  return Number.isNaN(date.getTime()) ? '' : TIME.format(date)
}
