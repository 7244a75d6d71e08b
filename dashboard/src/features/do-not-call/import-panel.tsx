import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useHoldRole } from '../../api/held-role.ts'
import { FailureState } from '../../components/failure-state.tsx'
import { Column as Below } from '../../components/fields.tsx'
import { FileField } from '../../components/file-field.tsx'
import { useShowLate } from '../../components/late-news.tsx'
import { type Column, ListTable } from '../../components/list-table.tsx'
import { Panel } from '../../components/panel.tsx'
import { ProgressBar } from '../../components/progress-bar.tsx'
import { useUnsaved } from '../../components/unsaved-changes.tsx'
import { useIsThere } from '../../components/use-is-there.ts'
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
  const [state, setState] = useState<ImportState | null>(null)
  const isGoingOn = state !== null && state.done < 1 && state.failure === null

  const isThere = useIsThere()
  const showLate = useShowLate()
  useUnsaved(isGoingOn, 'under way')
  // What broke it stands here, where somebody may import no more.
  useHoldRole(state !== null && state.failure !== null)

  async function take(text: string): Promise<void> {
    const last = await importList(tenantId, text, setState)
    const isWrong = last.failure !== null || last.rejected > 0
    if (!isThere() && isWrong) showLate({ label: 'Import', tenantId, shown: <Import state={last} /> })
    await client.invalidateQueries({ queryKey: listKey(tenantId) })
  }

  return (
    <Panel title="Import">
      <Below>
        <FileField
          label={
            <>
              A CSV file whose first line is <span className="mono">phone,reason</span>
            </>
          }
          isDisabled={isGoingOn}
          onText={take}
        />
        {state && <Import state={state} />}
      </Below>
    </Panel>
  )
}

function Import({ state }: { state: ImportState }) {
  const { imported, duplicates, rejected, errors, done, failure } = state
  return (
    <Below>
      <ProgressBar label="Import" value={done} />
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
    </Below>
  )
}
