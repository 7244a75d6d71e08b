import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { FailureState } from '../components/failure-state.tsx'
import { Page } from '../components/page.tsx'

/** Stands where a page could not be shown. */
export function PageFailure({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  function again(): void {
    reset()
    void router.invalidate()
  }
  return (
    <main>
      <Page title="This did not work">
        <FailureState error={error} onRetry={again} />
      </Page>
    </main>
  )
}
