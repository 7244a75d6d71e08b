import { Button, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type SubmitEvent, useState } from 'react'
import { FailureState } from '../../components/failure-state.tsx'
import { faultAt } from '../../components/fault-at.ts'
import { Column } from '../../components/fields.tsx'
import { Panel } from '../../components/panel.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import styles from './do-not-call.module.css'
import { checkDial, type DialCheck } from './list-queries.ts'

/** May we call this number now? */
export function DialCheckPanel({ tenantId }: { tenantId: string }) {
  const [phone, setPhone] = useState('')
  const check = useMutation({ mutationFn: (to: string) => checkDial(tenantId, to) })
  // What was said of one number says nothing of another.
  const isOfThis = check.variables === phone.trim()

  function ask(event: SubmitEvent): void {
    event.preventDefault()
    check.mutate(phone.trim())
  }

  return (
    <Panel title="May we call a number now?">
      <Column>
        <form className={styles.ask} onSubmit={ask}>
          <TextInput
            label="Number"
            placeholder="+12025550123"
            type="tel"
            required
            value={phone}
            error={isOfThis && faultAt(check.error, '/body/to')}
            onChange={(event) => setPhone(event.currentTarget.value)}
          />
          <Button type="submit" variant="default" loading={check.isPending}>
            Ask
          </Button>
        </form>
        {isOfThis && check.error && <FailureState error={check.error} />}
        <output>{isOfThis && check.data && <Verdict check={check.data} />}</output>
      </Column>
    </Panel>
  )
}

function Verdict({ check: { allowed, refusals } }: { check: DialCheck }) {
  if (allowed) return <StatusBadge tone="good">It may be called now</StatusBadge>
  return (
    <>
      <StatusBadge tone="bad">It may not be called now</StatusBadge>
      <ul className={styles.reasons}>
        {refusals.map(({ code, reason }) => (
          <li key={code}>{reason}</li>
        ))}
      </ul>
    </>
  )
}
