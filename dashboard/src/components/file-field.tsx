import { type ChangeEvent, type ReactNode, useId, useState } from 'react'
import { csvText } from './csv-text.ts'
import styles from './file-field.module.css'

type Props = {
  label: ReactNode
  isDisabled?: boolean
  /** Given what the file says, each time one is chosen; the same file can be chosen again once it is done. */
  onText: (text: string) => void | Promise<void>
}

/** Takes what stands in a CSV file. */
export function FileField({ label, isDisabled = false, onText }: Props) {
  const field = useId()
  const [isSpoilt, setSpoilt] = useState(false)

  async function take({ currentTarget: input }: ChangeEvent<HTMLInputElement>): Promise<void> {
    const [file] = input.files ?? []
    if (!file) return
    const text = csvText(await file.arrayBuffer())
    setSpoilt(text === null)
    if (text !== null) await onText(text)
    input.value = ''
  }

  return (
    <div>
      <label className={styles.label} htmlFor={field}>
        {label}
      </label>
      <input
        id={field}
        className={styles.file}
        type="file"
        accept=".csv,text/csv"
        disabled={isDisabled}
        aria-invalid={isSpoilt}
        onChange={(event) => void take(event)}
      />
      {isSpoilt && (
        <p role="alert">
          Nothing is taken: the file is not in UTF-8, and letters like é would be spoilt. Save it as “CSV UTF-8”, and
          choose that.
        </p>
      )}
    </div>
  )
}
