import type { ReactNode } from 'react'
import styles from './note.module.css'

/** A sentence that whoever uses the page has to know. */
export function Note({ children }: { children: ReactNode }) {
  return <p className={styles.note}>{children}</p>
}
