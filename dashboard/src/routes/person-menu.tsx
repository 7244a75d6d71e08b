import { lazy, Suspense, useState } from 'react'
import { PersonButton } from './person-button.tsx'
import { loadPersonActions } from './shell-parts.ts'

const PersonActions = lazy(loadPersonActions)

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
