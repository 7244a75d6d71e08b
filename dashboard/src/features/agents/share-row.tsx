import { Button, TextInput } from '@mantine/core'
import { onFirstClick } from '../../components/second-click.ts'
import styles from './rollout-panel.module.css'

type ShareRowProps = {
  name: string
  percent: number
  /** Null: only to be looked at. */
  onChange: ((percent: number) => void) | null
  onRemove: (() => void) | null
}

/** The share of a version: to be pulled, or to be written exactly. */
export function ShareRow({ name, percent, onChange, onRemove }: ShareRowProps) {
  const set = (text: string) => onChange?.(Number(text))
  return (
    <li className={styles.share}>
      <span>{name}</span>
      <input
        type="range"
        min={0}
        max={100}
        step={1}
        aria-label={`Share of ${name}`}
        disabled={onChange === null}
        value={percent}
        onChange={(event) => set(event.currentTarget.value)}
      />
      <TextInput
        type="number"
        min={0}
        max={100}
        step={0.01}
        aria-label={`Percent of ${name}`}
        rightSection="%"
        disabled={onChange === null}
        value={percent}
        onChange={(event) => set(event.currentTarget.value)}
      />
      {onRemove && (
        <Button variant="default" size="xs" onClick={onFirstClick(onRemove)} aria-label={`Take out ${name}`}>
          Take out
        </Button>
      )}
    </li>
  )
}
