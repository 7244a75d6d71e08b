import { Button, TextInput } from '@mantine/core'
import { Column, Fields } from '../../components/fields.tsx'
import { onFirstClick } from '../../components/second-click.ts'
import { useKeptFocus } from '../../components/use-kept-focus.ts'
import styles from './call-score.module.css'

/** A criterion, as somebody scores it; without a percentage it is none. */
export type GivenPart = { name: string; percent: string; reason: string }

export const NO_PART: GivenPart = { name: '', percent: '', reason: '' }

const MAX_PARTS = 50
const NAME_CHARS = 64
const REASON_CHARS = 1_000

type ScorePartsProps = { parts: GivenPart[]; onChange: (parts: GivenPart[]) => void }

/** What a score is made of, criterion by criterion. */
export function ScoreParts({ parts, onChange }: ScorePartsProps) {
  const place = useKeptFocus(parts.length)
  const change = (at: number, by: Partial<GivenPart>) =>
    onChange(parts.map((part, index) => (index === at ? { ...part, ...by } : part)))
  return (
    <div ref={place} tabIndex={-1}>
      <Column>
        {parts.length > 0 && <div>Criteria. One without a percentage is left out.</div>}
        {parts.map((part, index) => (
          <PartFields
            // biome-ignore lint/suspicious/noArrayIndexKey: a criterion that is still to be named has no name but its place
            key={index}
            part={part}
            number={index + 1}
            onChange={(by) => change(index, by)}
            onRemove={() => onChange(parts.filter((_part, at) => at !== index))}
          />
        ))}
        {parts.length < MAX_PARTS && (
          <div>
            <Button variant="default" size="xs" onClick={() => onChange([...parts, NO_PART])}>
              Add a criterion
            </Button>
          </div>
        )}
      </Column>
    </div>
  )
}

type PartFieldsProps = {
  part: GivenPart
  number: number
  onChange: (by: Partial<GivenPart>) => void
  onRemove: () => void
}

function PartFields({ part: { name, percent, reason }, number, onChange, onRemove }: PartFieldsProps) {
  return (
    <fieldset className={styles.part}>
      <legend className="unseen">Criterion {number}</legend>
      <Fields>
        <TextInput
          label="Criterion"
          required={percent !== ''}
          maxLength={NAME_CHARS}
          value={name}
          onChange={(event) => onChange({ name: event.currentTarget.value })}
        />
        <TextInput
          type="number"
          label="Percent"
          min={0}
          max={100}
          step={1}
          value={percent}
          onChange={(event) => onChange({ percent: event.currentTarget.value })}
        />
      </Fields>
      <TextInput
        label="Why"
        maxLength={REASON_CHARS}
        value={reason}
        onChange={(event) => onChange({ reason: event.currentTarget.value })}
      />
      <div>
        <Button
          variant="default"
          size="xs"
          onClick={onFirstClick(onRemove)}
          aria-label={`Take out criterion ${number}`}
        >
          Take out
        </Button>
      </div>
    </fieldset>
  )
}
