import { Button, NativeSelect, Textarea, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useMay } from '../../api/session.ts'
import { Buttons, RowButtons } from '../../components/fields.tsx'
import { Instant } from '../../components/instant.tsx'
import type { Column } from '../../components/list-table.tsx'
import { ModalForm } from '../../components/modal-form.tsx'
import { PlainTable } from '../../components/plain-table.tsx'
import { ReadPanel } from '../../components/read-panel.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { words } from '../../components/text.ts'
import type { Version } from './agent-queries.ts'
import { type Mode, type Simulation, simulate, simulationsQuery } from './simulation-queries.ts'
import { SimulationRuns } from './simulation-runs.tsx'

/** Where somebody begins who has no scenario yet. */
const FIRST_SCENARIO = JSON.stringify(
  [
    {
      name: 'Opening hours',
      caller: { steps: [{ say: 'When are you open?' }, { say: 'Thank you, goodbye.' }] },
      expect: { not_called: ['transfer_call'] },
    },
  ],
  null,
  2,
)

const MONO = { input: 'mono' }

const MODES: { value: Mode; label: string }[] = [
  { value: 'text', label: 'In text: quick and cheap' },
  { value: 'voice', label: 'By voice: the agent is called' },
]

/** How a version did with callers that are made up. */
export function SimulationPanel({ version }: { version: Version }) {
  const query = useQuery(simulationsQuery(version))
  const mayTry = useMay('admin')
  const [shown, setShown] = useState<string | null>(null)
  return (
    <ReadPanel
      title="Test it"
      aside="Callers that are made up, in text or by voice. Nothing is done to anybody"
      query={query}
    >
      {(simulations) => (
        <>
          {simulations.length > 0 && (
            <PlainTable label="Simulations" columns={columnsOf(setShown)} rows={simulations} keyOf={({ id }) => id} />
          )}
          {shown !== null && <SimulationRuns key={shown} version={version} simulationId={shown} />}
          {mayTry && <NewSimulation version={version} onMade={setShown} />}
        </>
      )}
    </ReadPanel>
  )
}

type NewProps = { version: Version; onMade: (id: string) => void }

function NewSimulation({ version, onMade }: NewProps) {
  const client = useQueryClient()

  async function submit(values: { scenarios: string; mode: Mode; repetitions: number }): Promise<void> {
    const { id } = await simulate(version, values)
    await client.invalidateQueries({ queryKey: simulationsQuery(version).queryKey })
    onMade(id)
  }

  return (
    <Buttons>
      <ModalForm
        label="New simulation"
        submit="Run it"
        initial={{ scenarios: FIRST_SCENARIO, mode: 'text', repetitions: 1 }}
        onSubmit={submit}
      >
        {({ values, set, fault }) => (
          <>
            <Textarea
              label="Scenarios, as JSON"
              description="What callers do, and what is to be true of the call."
              classNames={MONO}
              rows={14}
              spellCheck={false}
              required
              value={values.scenarios}
              error={fault('scenarios')}
              onChange={(event) => set({ scenarios: event.currentTarget.value })}
            />
            <NativeSelect
              label="How it is tried"
              description="By voice it takes as long as calls do, and costs what they cost."
              data={MODES}
              value={values.mode}
              error={fault('mode')}
              onChange={(event) => set({ mode: event.currentTarget.value as Mode })}
            />
            <TextInput
              type="number"
              label="How often each"
              min={1}
              max={20}
              required
              value={Number.isNaN(values.repetitions) ? '' : values.repetitions}
              error={fault('repetitions')}
              onChange={(event) => set({ repetitions: event.currentTarget.valueAsNumber })}
            />
          </>
        )}
      </ModalForm>
    </Buttons>
  )
}

function columnsOf(onShow: (id: string) => void): Column<Simulation>[] {
  return [
    { name: 'When', cell: ({ created_at }) => <Instant at={created_at} /> },
    { name: 'How', from: 'tablet', cell: ({ mode }) => (mode === 'voice' ? 'By voice' : 'In text') },
    { name: 'Result', cell: (simulation) => <SimulationStatus simulation={simulation} /> },
    {
      name: 'Passed',
      isNumber: true,
      cell: ({ runs_by_status: { passed, total } }) => `${passed} of ${total}`,
    },
    {
      name: 'Runs',
      isActions: true,
      cell: ({ id }) => (
        <RowButtons>
          <Button size="xs" variant="default" onClick={() => onShow(id)}>
            Look
          </Button>
        </RowButtons>
      ),
    },
  ]
}

function SimulationStatus({ simulation: { status, passed } }: { simulation: Simulation }) {
  if (status !== 'completed')
    return <StatusBadge tone={status === 'cancelled' ? 'quiet' : 'busy'}>{words(status)}</StatusBadge>
  return <StatusBadge tone={passed ? 'good' : 'bad'}>{passed ? 'Passed' : 'Failed'}</StatusBadge>
}
