import { createContext, type ReactNode, useContext } from 'react'
import styles from './states.module.css'

type EmptyStateProps = {
  title: ReactNode
  /** What to do so that something is here. */
  children: ReactNode
}

/** Whether what stands there could not be read again. Then nobody knows whether there is still nothing. */
export const LastReadFailed = createContext(false)

/** Stands where there is nothing yet, and says how there could be; not where the last look at it has failed. */
export function EmptyState({ title, children }: EmptyStateProps) {
  if (useContext(LastReadFailed)) return null
  return (
    <div className={styles.state}>
      <p className={styles.lead}>{title}</p>
      <div className={styles.hint}>{children}</div>
    </div>
  )
}
