import styles from './json-view.module.css'

/** A value of the API as it is. */
export function JsonView({ value, label }: { value: unknown; label: string }) {
  return (
    // What is longer than the frame is moved by the keyboard as well.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reached
    <section aria-label={label} tabIndex={0}>
      <pre className={styles.json}>{JSON.stringify(value, null, 2)}</pre>
    </section>
  )
}
