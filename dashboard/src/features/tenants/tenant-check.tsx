import { Button, Modal } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useRef } from 'react'
import { useMay } from '../../api/session.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { FailureState } from '../../components/failure-state.tsx'
import { JsonView } from '../../components/json-view.tsx'
import { validateTenant } from './tenant-queries.ts'

/** Shows what would run with a document, its defaults filled in, before it is saved. */
export function TenantCheck({ document }: { document: object | null }) {
  const mayCheck = useMay('administrator')
  const check = useMutation({ mutationFn: validateTenant })
  // While it waits for the answer the button has no focus that could be given back.
  const button = useRef<HTMLButtonElement>(null)
  if (!mayCheck) return null
  const { data, error } = check
  return (
    <>
      <Button
        ref={button}
        variant="default"
        disabled={document === null}
        loading={check.isPending}
        onClick={() => document !== null && check.mutate(document)}
      >
        What would run?
      </Button>
      <Modal
        opened={Boolean(data ?? error)}
        onClose={() => check.reset()}
        onExitTransitionEnd={() => button.current?.focus()}
        title="What would run"
        size="lg"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {error && <FailureState error={error} />}
        {data?.error && <EmptyState title="This would be refused">{data.error}</EmptyState>}
        {data?.ok && <JsonView label="What would run" value={data.runtime} />}
      </Modal>
    </>
  )
}
