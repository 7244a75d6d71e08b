import { useQueryClient } from '@tanstack/react-query'
import { type ChangeEvent, useId, useState } from 'react'
import { FailureState } from '../../components/failure-state.tsx'
import { Column as Below } from '../../components/fields.tsx'
import { type Column, ListTable } from '../../components/list-table.tsx'
import { Panel } from '../../components/panel.tsx'
import styles from './do-not-call.module.css'
import { type ImportState, importList } from './import-list.ts'
import { listKey } from './list-queries.ts'

type BadRow = ImportState['errors'][number]

const COLUMNS: Column<BadRow>[] = [
  { name: 'Line', isNumber: true, cell: ({ line }) => line },
  { name: 'What is wrong', cell: ({ error }) => error },
]

/** Lists the numbers of a file. */
export function ImportPanel({ tenantId }: { tenantId: string }) {
  const client = useQueryClient()
  const field = useId()
  const [state, setState] = useState<ImportState | null>(null)
  const isGoingOn = state !== null && state.done < 1 && state.failure === null

  async function take({ currentTarget: input }: ChangeEvent<HTMLInputElement>): Promise<void> {
    const [file] = input.files ?? []
    if (!file) return
    await importList(tenantId, await file.text(), setState)
    // The same file can be chosen again.
    input.value = ''
    await client.invalidateQueries({ queryKey: listKey(tenantId) })
  }

  return (
    <Panel title="Import">
      <Below>
        <div>
          <label className={styles.label} htmlFor={field}>
            A CSV file whose first line is <span className="mono">phone,reason</span>
          </label>
          <input
            id={field}
            className={styles.file}
            type="file"
            accept=".csv,text/csv"
            disabled={isGoingOn}
            onChange={(event) => void take(event)}
          />
        </div>
        {state && <Import state={state} />}
      </Below>
    </Panel>
  )
}

function Import({ state }: { state: ImportState }) {
  const { imported, duplicates, rejected, errors, done, failure } = state
  return (
    <>
      <progress className={styles.progress} value={done} aria-label="Import" />
      <output>
        {imported} listed, {duplicates} were there already, {rejected} refused.
      </output>
      {failure !== null && (
        <>
          <FailureState error={failure} />
          <p>What came before is listed. The same file can be sent again: nothing is listed twice.</p>
        </>
      )}
      {errors.length > 0 && (
        <div className={styles.bad}>
          <ListTable
            label="Lines that were refused"
            columns={COLUMNS}
            rows={errors}
            keyOf={({ line }) => String(line)}
          />
        </div>
      )}
      {rejected > errors.length && <p>Of the others no more than their count is told.</p>}
    </>
  )
}
