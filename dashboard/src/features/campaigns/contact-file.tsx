import { type ChangeEvent, useId } from 'react'
import styles from './campaigns.module.css'

/** Takes a list from a file, to be looked at before it is sent. */
export function ContactFile({ onText }: { onText: (text: string) => void }) {
  const field = useId()

  async function take({ currentTarget: input }: ChangeEvent<HTMLInputElement>): Promise<void> {
    const [file] = input.files ?? []
    if (!file) return
    onText(await file.text())
    // The same file can be chosen again.
    input.value = ''
  }

  return (
    <div>
      <label className={styles.label} htmlFor={field}>
        Or take them from a file
      </label>
      <input
        id={field}
        className={styles.file}
        type="file"
        accept=".csv,text/csv"
        onChange={(event) => void take(event)}
      />
    </div>
  )
}
