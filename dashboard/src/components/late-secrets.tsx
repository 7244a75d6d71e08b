import styles from './late-news.module.css'
import { ShownOnce } from './shown-once.tsx'

/** A secret that the service tells once: what it is, whose, of which tenant, and what is to be done with it. */
export type Secret = { label: string; whose: string; hint: string; tenantId: string; secret: string }

type LateSecretsProps = { secrets: Secret[]; onTake: (secret: Secret) => void }

/** The secrets whose page was left before they were taken. */
export function LateSecrets({ secrets, onTake }: LateSecretsProps) {
  if (secrets.length === 0) return null
  return (
    <section className={styles.part} aria-label="Left before it was taken">
      {secrets.map((late) => (
        <div key={late.secret} className={styles.one}>
          <p>
            {late.label} of <bdi className="mono">{late.tenantId}</bdi>, whose page was left before it was taken.
          </p>
          <ShownOnce {...late} onDone={() => onTake(late)} />
        </div>
      ))}
    </section>
  )
}
