import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { ApiFailure } from '../api/failure.ts'
import { FailureState } from '../components/failure-state.tsx'
import { Page } from '../components/page.tsx'

/** How browsers, and what the page was built with, say that a file of it did not come. */
const NOT_LOADED = /preload CSS|dynamically imported module|importing a module script/i

/** Stands where a page could not be shown. */
export function PageFailure({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  const isNotLoaded = error instanceof Error && NOT_LOADED.test(error.message)
  function again(): void {
    // A browser remembers a file that did not come, and those of a new release have other names.
    if (isNotLoaded) return window.location.reload()
    reset()
    void router.invalidate()
  }
  return (
    <main>
      <Page title="This did not work">
        <FailureState error={isNotLoaded ? notLoaded() : error} onRetry={again} />
      </Page>
    </main>
  )
}

function notLoaded(): ApiFailure {
  const message = 'This page could not be loaded. The service cannot be reached, or there is a newer release of it.'
  return new ApiFailure({ status: 0, code: 'page_not_loaded', message })
}
