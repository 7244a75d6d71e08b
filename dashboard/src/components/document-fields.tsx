import { Checkbox, NativeSelect, Textarea, TextInput } from '@mantine/core'
import { asFailure } from '../api/failure.ts'
import styles from './document-fields.module.css'
import { memberAt, useEditing } from './document-state.ts'
import { faultAt } from './fault-at.ts'
import { lineOfMember } from './json-places.ts'

type FieldProps = { path: string[]; label: string; description?: string; placeholder?: string }

/** What all fields of a document have: what stands there, and what is wrong with it. */
function useField({ path, label, description, placeholder }: FieldProps) {
  const { document, error, base, isReadOnly } = useEditing()
  const member = memberAt(document.value, path)
  return {
    member,
    set: (value: unknown) => document.set(path, value),
    shown: {
      label,
      description,
      placeholder,
      error: faultAt(error, `${base}/${path.join('/')}`),
      disabled: document.value === null,
    },
    isReadOnly,
  }
}

/** A text; an empty one is not in the document. */
export function DocumentText({ rows, ...props }: FieldProps & { rows?: number }) {
  const { member, set, shown, isReadOnly: readOnly } = useField(props)
  const value = typeof member === 'string' ? member : ''
  const note = (text: string) => set(text === '' ? undefined : text)
  if (rows === undefined)
    return (
      <TextInput {...shown} readOnly={readOnly} value={value} onChange={(event) => note(event.currentTarget.value)} />
    )
  return (
    <Textarea
      {...shown}
      readOnly={readOnly}
      rows={rows}
      resize="vertical"
      value={value}
      onChange={(event) => note(event.currentTarget.value)}
    />
  )
}

/** A number; none is not in the document. */
export function DocumentNumber(props: FieldProps) {
  const { member, set, shown, isReadOnly: readOnly } = useField(props)
  return (
    <TextInput
      {...shown}
      readOnly={readOnly}
      type="number"
      value={typeof member === 'number' ? member : ''}
      onChange={({ currentTarget: { value } }) => set(value === '' ? undefined : Number(value))}
    />
  )
}

/** Yes or no. */
export function DocumentFlag(props: FieldProps) {
  const { member, set, shown, isReadOnly } = useField(props)
  return (
    <Checkbox
      {...shown}
      aria-readonly={isReadOnly}
      checked={member === true}
      onChange={({ currentTarget: { checked } }) => {
        if (!isReadOnly) set(checked)
      }}
    />
  )
}

/** One of some values; the first, empty choice is not in the document. */
export function DocumentChoice({ choices, ...props }: FieldProps & { choices: { value: string; label: string }[] }) {
  const { member, set, shown, isReadOnly } = useField(props)
  const value = typeof member === 'string' ? member : ''
  // A choice knows no reading alone, and one that is disabled is hard to read.
  if (isReadOnly) {
    const label = choices.find((choice) => choice.value === value)?.label ?? value
    return <TextInput {...shown} readOnly value={label} />
  }
  return (
    <NativeSelect
      {...shown}
      data={choices}
      value={value}
      onChange={({ currentTarget: { value } }) => set(value === '' ? undefined : value)}
    />
  )
}

/** The whole document as JSON, and what is wrong with it, line by line. */
export function DocumentJson({ label, description }: { label: string; description?: string }) {
  const { document, error, base, isReadOnly } = useEditing()
  const faults = error ? asFailure(error).faults.filter(({ path }) => path.startsWith(base)) : []
  return (
    <div>
      <Textarea
        className={styles.code}
        label={label}
        description={description}
        rows={16}
        resize="vertical"
        spellCheck={false}
        readOnly={isReadOnly}
        value={document.text}
        error={document.textFault ?? undefined}
        onChange={(event) => document.setText(event.currentTarget.value)}
      />
      {faults.length > 0 && (
        <ul className={styles.faults} aria-label="What is wrong">
          {faults.map(({ path, message }) => (
            <li key={path + message}>
              Line {lineOfMember(document.text, path.slice(base.length))}:{' '}
              <span className="mono">{path.slice(base.length) || '/'}</span> {message}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
