import { Skeleton } from '@mantine/core'
import type { ReactNode } from 'react'
import { FailureState } from './failure-state.tsx'
import { Page, type Title } from './page.tsx'

type DetailPageProps<Thing> = {
  title: Title
  /** The link back to the list. */
  above: ReactNode
  description?: ReactNode
  actions?: ReactNode
  /** What was read; undefined until it is there. */
  thing: Thing | undefined
  error: unknown
  onRetry: () => void
  children: (thing: Thing) => ReactNode
}

/** A page about one thing. What it had stays while it cannot be read again. */
export function DetailPage<Thing>({ thing, error, onRetry, children, ...page }: DetailPageProps<Thing>) {
  return (
    <Page {...page}>
      {error ? <FailureState error={error} onRetry={onRetry} /> : null}
      {thing !== undefined && children(thing)}
      {thing === undefined && !error ? (
        <div aria-busy="true">
          <Skeleton height={140} radius="md" mb="lg" />
          <Skeleton height={360} radius="md" />
        </div>
      ) : null}
    </Page>
  )
}
