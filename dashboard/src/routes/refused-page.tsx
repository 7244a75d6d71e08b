import type { Role } from '../api/session.ts'
import { EmptyState } from '../components/empty-state.tsx'
import { Page } from '../components/page.tsx'

const WHOSE: Record<Role, string> = {
  ...{ viewer: 'everybody', operator: 'operators', admin: 'administrators' },
  administrator: 'whoever administers the installation',
}

/** Stands in place of a page whose address somebody has of whom the service would take nothing there. */
export function RefusedPage({ needed }: { needed: Role }) {
  return (
    <Page title="This page is not for your role">
      <EmptyState title={`It is for ${WHOSE[needed]}`}>What you may use stands in the list of pages.</EmptyState>
    </Page>
  )
}
