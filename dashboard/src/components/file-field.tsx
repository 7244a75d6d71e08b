import { type ChangeEvent, type ReactNode, useId } from 'react'
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

  async function take({ currentTarget: input }: ChangeEvent<HTMLInputElement>): Promise<void> {
    const [file] = input.files ?? []
    if (!file) return
    await onText(await file.text())
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
        onChange={(event) => void take(event)}
      />
    </div>
  )
}
