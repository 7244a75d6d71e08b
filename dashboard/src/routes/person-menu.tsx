import { lazy, Suspense, useState } from 'react'
import { PersonButton } from './person-button.tsx'

/** What it needs is loaded when it is opened first. */
const PersonActions = lazy(async () => ({ default: (await import('./person-actions.tsx')).PersonActions }))

/** Who is logged in, and behind it the way out. */
export function PersonMenu() {
  const [wasOpened, setOpened] = useState(false)
  const button = <PersonButton aria-haspopup="menu" aria-expanded={false} onClick={() => setOpened(true)} />
  if (!wasOpened) return button
  return (
    <Suspense fallback={button}>
      <PersonActions />
    </Suspense>
  )
}
