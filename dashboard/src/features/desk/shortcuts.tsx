import { Button, Checkbox, Modal } from '@mantine/core'
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react'
import { Column } from '../../components/fields.tsx'
import { closedBeside } from '../../components/second-click.ts'
import { nextRow, type Stepped } from './row-step.ts'
import styles from './shortcuts.module.css'

type KeyedProps = {
  /** The key that presses the button in it. */
  letter: string
  /** What that does, for the list of keys. */
  says: string
  /** False: it is not to be seen, nor pressed; a window that was opened with it stays. */
  isOffered?: boolean
  children: ReactNode
}

/** Something that is pressed by a key too. */
export function Keyed({ letter, says, isOffered = true, children }: KeyedProps) {
  const offered = isOffered ? { className: styles.keyed, 'data-key': letter, 'data-says': says } : { hidden: true }
  return (
    <span {...offered}>
      {children}
      <span className={styles.key} aria-hidden="true">
        {letter}
      </span>
    </span>
  )
}

const SWITCHED_OFF = 'parley-shortcuts-off'
/** What the keys for the next and the last row go along. */
const ROWS = 'main [data-rows] fieldset[aria-label="Desk"] tbody a'

/** The keys of a page: whatever is `Keyed` on it. Whoever speaks to the machine can turn them off. */
export function Shortcuts() {
  const [isOpen, setOpen] = useState(false)
  const [isOff, setOff] = useState(() => localStorage.getItem(SWITCHED_OFF) !== null)
  const stepped = useRef<Stepped | null>(null)
  // Before the page is drawn: a key that comes with the first look at it is not lost.
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (isOff || isForSomethingElse(event)) return
      const isStep = event.key === 'j' || event.key === 'k'
      // A key that is held does once what it does; it only goes on along the rows.
      if (event.repeat && !isStep) return
      if (event.key === '?') setOpen(true)
      else if (isStep) stepRows(event.key === 'j' ? 1 : -1, stepped.current)
      else if (!pressKeyed(event.key)) return
      event.preventDefault()
    }
    const note = () => {
      stepped.current = focusedRow()
    }
    document.addEventListener('keydown', press)
    document.addEventListener('focusin', note)
    return () => {
      document.removeEventListener('keydown', press)
      document.removeEventListener('focusin', note)
    }
  }, [isOff])

  function turn(isOn: boolean): void {
    if (isOn) localStorage.removeItem(SWITCHED_OFF)
    else localStorage.setItem(SWITCHED_OFF, 'yes')
    setOff(!isOn)
  }

  return (
    <>
      <Button variant="default" onClick={() => setOpen(true)}>
        Keys
      </Button>
      <Modal
        opened={isOpen}
        onClose={() => setOpen(false)}
        title="Keys"
        closeButtonProps={{ 'aria-label': 'Close' }}
        {...closedBeside(() => setOpen(false))}
      >
        <Column>
          <KeyList />
          <Checkbox label="Use these keys" checked={!isOff} onChange={(event) => turn(event.currentTarget.checked)} />
        </Column>
      </Modal>
    </>
  )
}

/** What stands on the page now. */
function KeyList() {
  const [keys] = useState(() => {
    const keyed = [...document.querySelectorAll<HTMLElement>('[data-key]')]
    const found = keyed.map(({ dataset }) => [dataset['key'] ?? '', dataset['says'] ?? ''] as const)
    const rows = document.querySelector('[data-rows]') ? [['j k', 'The next row, the row before'] as const] : []
    return [...found, ...rows, ['?', 'These keys'] as const]
  })
  return (
    <dl className={styles.list}>
      {keys.map(([key, says]) => (
        <div key={key}>
          <dt>
            <kbd className={styles.key}>{key}</kbd>
          </dt>
          <dd>{says}</dd>
        </div>
      ))}
    </dl>
  )
}

function isForSomethingElse({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey || document.querySelector('[role="dialog"], [role="menu"]')) return true
  return target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null
}

/** Whether there was something to press. */
function pressKeyed(key: string): boolean {
  const place = `[data-key="${CSS.escape(key)}"]`
  const found = document.querySelector<HTMLElement>(`${place} button, ${place} a`)
  found?.click()
  return found !== null
}

function shownRows(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>(ROWS)]
}

const hrefOf = (row: HTMLElement) => row.getAttribute('href') ?? ''

/** Null: the focus is elsewhere. */
function focusedRow(): Stepped | null {
  const rows = shownRows()
  const at = rows.indexOf(document.activeElement as HTMLElement)
  return at === -1 ? null : { rows: rows.map(hrefOf), at }
}

/** @param last the row that had the focus last, of those that there were then: where it has left the list, nothing has it. */
function stepRows(by: 1 | -1, last: Stepped | null): void {
  const rows = shownRows()
  rows[nextRow(rows.map(hrefOf), by, focusedRow() ?? last)]?.focus()
}
