import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useHoldRoleFor } from '../api/held-role.ts'
import { FailureState } from './failure-state.tsx'
import { NoAnswerYet } from './no-answer-yet.tsx'
import { onFirstClick } from './second-click.ts'

type RunButtonProps = {
  label: string
  /** Resolves with what came of it, in a sentence. */
  onRun: () => Promise<string>
}

/** A button that does something at once, and says what came of it. */
export function RunButton({ label, onRun }: RunButtonProps) {
  const run = useMutation({ mutationFn: onRun })
  useHoldRoleFor(run)
  return (
    <>
      <Button variant="default" size="xs" loading={run.isPending} onClick={onFirstClick(() => run.mutate())}>
        {label}
      </Button>
      <output>{run.data}</output>
      <NoAnswerYet isBusy={run.isPending} />
      {run.error && <FailureState error={run.error} />}
    </>
  )
}
