import { Button, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { SubmitEvent } from 'react'
import { useHoldRoleFor } from '../../api/held-role.ts'
import { ConsentField } from '../../components/consent-field.tsx'
import { FailureState } from '../../components/failure-state.tsx'
import { faultAt } from '../../components/fault-at.ts'
import { Column } from '../../components/fields.tsx'
import { Panel } from '../../components/panel.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { useDraft } from '../../components/use-draft.ts'
import styles from './do-not-call.module.css'
import { type CheckedCall, checkDial, type DialCheck } from './list-queries.ts'

const INITIAL: CheckedCall = { to: '', consent: false }

/** May we call this number now? */
export function DialCheckPanel({ tenantId }: { tenantId: string }) {
  const { values, set } = useDraft(INITIAL)
  const check = useMutation({ mutationFn: (call: CheckedCall) => checkDial(tenantId, call) })
  useHoldRoleFor(check)
  // What was said of one number says nothing of another, nor of the same with other words of theirs.
  const isOfThis = check.variables?.to === values.to && check.variables.consent === values.consent
  const fault = (name: string) => (isOfThis ? faultAt(check.error, `/body/${name}`) : undefined)

  function ask(event: SubmitEvent): void {
    event.preventDefault()
    check.mutate(values)
  }

  return (
    <Panel title="May we call a number now?">
      <Column>
        <form onSubmit={ask}>
          <Column>
            <div className={styles.ask}>
              <TextInput
                label="Number"
                placeholder="+12025550123"
                type="tel"
                required
                value={values.to}
                error={fault('to')}
                onChange={(event) => set({ to: event.currentTarget.value })}
              />
              <Button type="submit" variant="default" loading={check.isPending}>
                Ask
              </Button>
            </div>
            <ConsentField
              form={{ values, set, fault }}
              description="Where the tenant calls only with consent, nobody else is called."
            />
          </Column>
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
