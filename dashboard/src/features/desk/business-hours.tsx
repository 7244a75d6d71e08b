import { Button, Checkbox, TextInput } from '@mantine/core'
import { Column } from '../../components/fields.tsx'
import { onFirstClick } from '../../components/second-click.ts'
import { words } from '../../components/text.ts'
import { useKeptFocus } from '../../components/use-kept-focus.ts'
import styles from './desk.module.css'
import type { QueueSettings } from './queue-queries.ts'

type Span = NonNullable<QueueSettings['business_hours']>[number]
type BusinessHoursProps = {
  spans: Span[]
  isReadOnly: boolean
  /** What the service said of the span at this place. */
  fault: (index: number) => string | undefined
  onChange: (spans: Span[]) => void
}

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const satisfies Span['days']
const USUAL: Span = { days: ['mon', 'tue', 'wed', 'thu', 'fri'], start: '09:00', end: '17:00' }

/** When a queue is open: spans of days and hours. */
export function BusinessHours({ spans, isReadOnly, fault, onChange }: BusinessHoursProps) {
  const place = useKeptFocus(spans.length)
  const change = (at: number, by: Partial<Span>) =>
    onChange(spans.map((span, index) => (index === at ? { ...span, ...by } : span)))
  return (
    <div ref={place} tabIndex={-1}>
      <Column>
        <div>
          {spans.length === 0
            ? 'Open at all hours.'
            : 'Open at these hours; one that ends before it begins goes over midnight.'}
        </div>
        {spans.map((span, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a span has no name but its place
          <div key={index} className={styles.day}>
            <fieldset>
              <legend className="unseen">Days of span {index + 1}</legend>
              {DAYS.map((day) => (
                <Checkbox
                  key={day}
                  label={words(day)}
                  disabled={isReadOnly}
                  checked={span.days.includes(day)}
                  onChange={(event) => change(index, { days: daysWith(span.days, day, event.currentTarget.checked) })}
                />
              ))}
            </fieldset>
            {(['start', 'end'] as const).map((edge) => (
              <TextInput
                key={edge}
                label={edge === 'start' ? 'From' : 'To'}
                placeholder="09:00"
                w={90}
                required
                pattern="([01][0-9]|2[0-3]):[0-5][0-9]|24:00"
                disabled={isReadOnly}
                value={span[edge]}
                onChange={(event) => change(index, { [edge]: event.currentTarget.value })}
              />
            ))}
            {!isReadOnly && (
              <Button
                variant="default"
                aria-label={`Remove span ${index + 1}`}
                onClick={onFirstClick(() => onChange(spans.filter((_span, at) => at !== index)))}
              >
                Remove
              </Button>
            )}
            {fault(index) && <p role="alert">{fault(index)}</p>}
          </div>
        ))}
        {!isReadOnly && (
          <div>
            <Button variant="default" size="xs" onClick={() => onChange([...spans, USUAL])}>
              Add hours
            </Button>
          </div>
        )}
      </Column>
    </div>
  )
}

function daysWith(days: Span['days'], day: Span['days'][number], isOn: boolean): Span['days'] {
  return DAYS.filter((each) => (each === day ? isOn : days.includes(each)))
}
