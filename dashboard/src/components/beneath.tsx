import type { ReactNode } from 'react'
import styles from './beneath.module.css'

type BeneathProps = {
  /** From where on the column has room. */
  until?: 'tablet' | 'desktop' | 'wide'
  children: ReactNode
}

/** Within a cell of a list, in place of a column where there is no room for that. */
export function Beneath({ until = 'tablet', children }: BeneathProps) {
  return <div className={styles[until]}>{children}</div>
}
