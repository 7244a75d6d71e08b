import type { ReactNode } from 'react'
import styles from './states.module.css'

type EmptyStateProps = {
  title: ReactNode
  /** What to do so that something is here. */
  children: ReactNode
}

/** Stands where there is nothing yet, and says how there could be. */
export function EmptyState({ title, children }: EmptyStateProps) {
  return (
    <div className={styles.state}>
      <p className={styles.lead}>{title}</p>
      <div className={styles.hint}>{children}</div>
    </div>
  )
}
