import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { FailureState } from '../../components/failure-state.tsx'
import { RowButtons } from '../../components/fields.tsx'
import type { Column } from '../../components/list-table.tsx'
import { PlainTable } from '../../components/plain-table.tsx'
import { StatusBadge, type Tone } from '../../components/status-badge.tsx'
import { DASH, words } from '../../components/text.ts'
import type { Version } from './agent-queries.ts'
import styles from './chat-panel.module.css'
import { type Run, runQuery, runsQuery } from './simulation-queries.ts'

type RunsProps = { version: Version; simulationId: string }

const TONES: Record<Run['status'], Tone> = {
  pending: 'wait',
  running: 'busy',
  passed: 'good',
  failed: 'bad',
  error: 'bad',
  cancelled: 'quiet',
}

/** The calls of a simulation, and why they have not passed. */
export function SimulationRuns({ version, simulationId }: RunsProps) {
  const { data, error, refetch } = useQuery(runsQuery(version, simulationId))
  const [read, setRead] = useState<string | null>(null)
  return (
    <>
      {error && <FailureState error={error} onRetry={() => void refetch()} />}
      {data && <PlainTable label="Runs" columns={columnsOf(setRead)} rows={data.runs} keyOf={({ id }) => id} />}
      {read !== null && <Transcript key={read} version={version} simulationId={simulationId} runId={read} />}
    </>
  )
}

function columnsOf(onRead: (id: string) => void): Column<Run>[] {
  return [
    { name: 'Scenario', cell: ({ scenario, repetition }) => `${scenario}, ${repetition}` },
    { name: 'Result', cell: ({ status }) => <StatusBadge tone={TONES[status]}>{words(status)}</StatusBadge> },
    { name: 'Score', isNumber: true, from: 'tablet', cell: ({ score }) => score ?? DASH },
    { name: 'Why', cell: ({ reasons }) => (reasons.length === 0 ? DASH : reasons.join(' ')) },
    {
      name: 'Transcript',
      isActions: true,
      cell: ({ id, ended_by: endedBy }) => (
        <RowButtons>
          {endedBy !== null && (
            <Button size="xs" variant="default" onClick={() => onRead(id)}>
              Read
            </Button>
          )}
        </RowButtons>
      ),
    },
  ]
}

function Transcript({ version, ...of }: RunsProps & { runId: string }) {
  const { data, error, refetch } = useQuery(runQuery(version, of))
  return (
    <section className={styles.chat} aria-label="What was said in the run">
      {error && <FailureState error={error} onRetry={() => void refetch()} />}
      <ol className={styles.said}>
        {data?.transcript.map(({ role, text }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: what was said stays where it is
          <li key={at}>
            <p className={role === 'caller' ? styles.caller : ''} dir="auto">
              <span className="unseen" dir="ltr">
                {words(role)}:{' '}
              </span>
              {role === 'caller' && text === '' ? '(not written down)' : text}
            </p>
          </li>
        ))}
        {data?.function_calls.map(({ name, arguments: given, result }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: what was called stays where it is
          <li key={at}>
            <p className={styles.tool}>
              Used{' '}
              <span className="mono">
                {name} {given} → {result}
              </span>
            </p>
          </li>
        ))}
      </ol>
    </section>
  )
}
