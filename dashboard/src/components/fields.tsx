import type { ReactNode } from 'react'
import styles from './fields.module.css'

type Held = { children: ReactNode }

/** Fields of a form, beside each other where there is room. */
export function Fields({ children }: Held) {
  return <div className={styles.fields}>{children}</div>
}

/** What stands below each other, with distance between. */
export function Column({ children }: Held) {
  return <div className={styles.column}>{children}</div>
}

/** Buttons beside each other, and what is said beside them. */
export function Buttons({ children }: Held) {
  return <div className={styles.buttons}>{children}</div>
}

/** Buttons in a row of a list, above the link that the row may be. */
export function RowButtons({ children }: Held) {
  return <div className={styles.rowButtons}>{children}</div>
}
