import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { FailureState } from '../../components/failure-state.tsx'
import { Icon } from '../../components/icon.tsx'
import { exportedEntries } from './list-queries.ts'

/** Saves the whole list as a file. */
export function ExportList({ tenantId }: { tenantId: string }) {
  const save = useMutation({ mutationFn: () => exportedEntries(tenantId), onSuccess: saveFile })
  return (
    <>
      <Button
        variant="default"
        leftSection={<Icon name="download" />}
        loading={save.isPending}
        onClick={() => save.mutate()}
      >
        Export
      </Button>
      {save.error && <FailureState error={save.error} onRetry={() => save.mutate()} />}
    </>
  )
}

function saveFile(file: Blob): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = 'do-not-call.csv'
  link.click()
  URL.revokeObjectURL(link.href)
}
