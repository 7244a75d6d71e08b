import styles from './status-badge.module.css'

/** good: done as it should · busy: going on · wait: somebody or something is waited for · bad: failed · quiet: over, or off. */
export type Tone = 'good' | 'busy' | 'wait' | 'bad' | 'quiet'

type StatusBadgeProps = { tone: Tone; children: string }

/** A state in a word; its colour says nothing that the word does not. */
export function StatusBadge({ tone, children }: StatusBadgeProps) {
  return <span className={`${styles.badge} ${styles[tone]}`}>{children}</span>
}
