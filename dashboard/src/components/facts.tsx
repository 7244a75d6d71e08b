import type { ReactNode } from 'react'
import styles from './facts.module.css'
import { DASH } from './text.ts'

/** A name and what it is; null and undefined are shown as nothing. */
export type Fact = [name: string, value: ReactNode]

/** What is known of a thing, in columns as wide as the page allows. */
export function Facts({ facts }: { facts: Fact[] }) {
  return (
    <dl className={styles.facts}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt className={styles.name}>{name}</dt>
          <dd className={styles.value}>{value ?? DASH}</dd>
        </div>
      ))}
    </dl>
  )
}
