import { Link } from '@tanstack/react-router'
import { EmptyState } from '../components/empty-state.tsx'
import { Page } from '../components/page.tsx'

/** Stands at an address that is no page. */
export function UnknownPage() {
  return (
    <main>
      <Page title="There is no such page">
        <EmptyState title="The address leads nowhere">
          It may have been cut off. <Link to="/">To the first page</Link>
        </EmptyState>
      </Page>
    </main>
  )
}
