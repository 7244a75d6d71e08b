import { createContext, type ReactNode, useContext, useEffect, useRef, useState } from 'react'
import styles from './late-failures.module.css'
import { ShownOnce } from './shown-once.tsx'

/** A secret that the service tells once: what it is, of which tenant, and what is to be done with it. */
type Secret = { label: string; hint: string; tenantId: string; secret: string }

const LateContext = createContext<(late: Secret) => void>(() => {})

/** Around all pages: shows beneath them the secrets whose page was left before they came, each until it has been taken. */
export function LateSecrets({ children }: { children: ReactNode }) {
  const [told, setTold] = useState<Secret[]>([])
  const [tell] = useState(() => (late: Secret) => setTold((before) => [...before, late]))

  function take(taken: Secret): void {
    setTold((before) => before.filter((late) => late !== taken))
    // The button that was pressed is gone.
    document.getElementById('content')?.focus({ preventScroll: true })
  }

  return (
    <LateContext value={tell}>
      {children}
      {told.length > 0 && (
        <section className={styles.late} aria-label="Came after its page was left">
          {told.map((late) => (
            <div key={late.secret} className={styles.one}>
              <p>
                {late.label} of <bdi className="mono">{late.tenantId}</bdi>, which came after its page was left.
              </p>
              <ShownOnce label={late.label} hint={late.hint} secret={late.secret} onDone={() => take(late)} />
            </div>
          ))}
        </section>
      )}
    </LateContext>
  )
}

/** A secret that a page shows once; one that comes when the page has been left is shown beneath the one that is there then. */
export function useSecret(of: Omit<Secret, 'secret'>) {
  const [secret, setSecret] = useState('')
  const tellLate = useContext(LateContext)
  const isThere = useRef(false)
  useEffect(() => {
    isThere.current = true
    return () => {
      isThere.current = false
    }
  }, [])

  return {
    show(told: string) {
      if (isThere.current) setSecret(told)
      else tellLate({ ...of, secret: told })
    },
    shown: secret !== '' && <ShownOnce label={of.label} hint={of.hint} secret={secret} onDone={() => setSecret('')} />,
  }
}
