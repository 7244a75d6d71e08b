import styles from './progress-bar.module.css'

/** How far something has come: `value` of `max`, which is 1 if not given. */
export function ProgressBar({ label, value, max = 1 }: { label: string; value: number; max?: number }) {
  return <progress className={styles.progress} value={value} max={max} aria-label={label} />
}
