import type { ReactNode } from 'react'
import styles from './beneath.module.css'

/** Within a cell of a list on a phone, in place of a column that there is no room for there. */
export function Beneath({ children }: { children: ReactNode }) {
  return <div className={styles.beneath}>{children}</div>
}
