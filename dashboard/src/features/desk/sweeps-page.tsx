import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTenant } from '../../api/tenants.ts'
import { BackLink } from '../../components/back-link.tsx'
import { ConfirmAction } from '../../components/confirm-action.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Buttons } from '../../components/fields.tsx'
import { Page } from '../../components/page.tsx'
import { SWEEPS, type SweepResult } from './sweep-queries.ts'
import { SweptTasks } from './swept-tasks.tsx'
import { deskKey } from './task-queries.ts'

/** What otherwise happens by itself, now, for administrators. */
export function SweepsPage() {
  const tenantId = useTenant()
  const client = useQueryClient()
  const [done, setDone] = useState<{ name: string; result: SweepResult } | null>(null)
  return (
    <Page
      title="Sweeps"
      description="Do now what the service does by itself every now and then. Each is of all tenants."
      above={
        <BackLink to="/t/$tenantId/desk" params={{ tenantId }}>
          Desk
        </BackLink>
      }
    >
      <Buttons>
        {SWEEPS.map(({ name, says, isGrave, run }) => (
          <ConfirmAction
            key={name}
            label={name}
            isGrave={isGrave}
            onConfirm={async () => {
              setDone({ name, result: await run() })
              await client.invalidateQueries({ queryKey: deskKey(tenantId) })
            }}
          >
            {says}
          </ConfirmAction>
        ))}
      </Buttons>
      {done ? (
        <SweptTasks {...done} />
      ) : (
        <EmptyState title="Nothing has been done from here yet">
          What comes of a sweep stands here, counted and task by task.
        </EmptyState>
      )}
    </Page>
  )
}
