import { type ReactNode, useId } from 'react'
import styles from './panel.module.css'

type PanelProps = { title: string; aside?: ReactNode; children: ReactNode }

/** A part of a page that has a heading of its own. */
export function Panel({ title, aside, children }: PanelProps) {
  const heading = useId()
  return (
    <section className={styles.panel} aria-labelledby={heading}>
      <header className={styles.head}>
        <h2 id={heading} className={styles.title}>
          {title}
        </h2>
        {aside}
      </header>
      {children}
    </section>
  )
}
