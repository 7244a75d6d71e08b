import { Button } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { createContext, type ReactNode, useContext, useState } from 'react'
import { FailureState } from './failure-state.tsx'
import styles from './late-failures.module.css'

/** Something that failed when its window was closed already: the label of that, and of which tenant its page was. */
type Late = { label: string; tenantId: string | undefined; error: unknown }
type Told = Late & { id: number }

/** More of them nobody reads: the oldest is left out. */
const MOST = 3

const LateContext = createContext<(late: Late) => void>(() => {})

/** Around all pages: tells beneath them of what failed after its window was closed, until it has been read. */
export function LateFailures({ children }: { children: ReactNode }) {
  const [told, setTold] = useState<Told[]>([])
  const { tenantId: shown } = useParams({ strict: false })
  const [tell] = useState(() => (late: Late) => {
    setTold((before) => [...before, { ...late, id: (before.at(-1)?.id ?? 0) + 1 }].slice(-MOST))
  })

  function dismiss(id: number): void {
    setTold((before) => before.filter((late) => late.id !== id))
    // The button that was pressed is gone.
    document.getElementById('content')?.focus({ preventScroll: true })
  }

  return (
    <LateContext value={tell}>
      {children}
      {told.length > 0 && (
        <section className={styles.late} aria-label="Failed after its window was closed">
          {told.map(({ id, label, tenantId, error }) => (
            <div key={id} className={styles.one}>
              <p>
                “{label}”{' '}
                {tenantId !== shown && tenantId !== undefined && <>of {<bdi className="mono">{tenantId}</bdi>} </>}
                went on after its window was closed, and failed:
              </p>
              <FailureState error={error} />
              <Button variant="default" size="xs" onClick={() => dismiss(id)}>
                Dismiss
              </Button>
            </div>
          ))}
        </section>
      )}
    </LateContext>
  )
}

/** Returns what tells of a failure once nothing is there any more that could show it. */
export function useTellLate(): (late: Late) => void {
  return useContext(LateContext)
}
