import { Button, TextInput } from '@mantine/core'
import { useState } from 'react'
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
  // As it is typed: before a point that is typed first there is nothing yet, and a nought put there would make another number of it.
  const [typed, setTyped] = useState<string | null>(null)
  const isTyped = typed !== null && Number(typed) === percent
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
        value={isTyped ? typed : percent}
        onChange={({ currentTarget: { value } }) => {
          setTyped(value)
          set(value)
        }}
        onBlur={() => setTyped(null)}
      />
      {onRemove && (
        <Button variant="default" size="xs" onClick={onFirstClick(onRemove)} aria-label={`Take out ${name}`}>
          Take out
        </Button>
      )}
    </li>
  )
}
