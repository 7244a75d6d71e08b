import { Button, TextInput } from '@mantine/core'
import { useRef, useState } from 'react'
import { Buttons } from './fields.tsx'
import { onFirstClick } from './second-click.ts'
import styles from './shown-once.module.css'

type ShownOnceProps = { label: string; whose: string; hint: string; secret: string; onDone: () => void }

/** A secret that the service tells once: to be copied now. `whose`: of several nobody could tell them apart. */
export function ShownOnce({ label, whose, hint, secret, onDone }: ShownOnceProps) {
  const input = useRef<HTMLInputElement>(null)
  const [isCopied, setCopied] = useState(false)

  /** Where pages may not write to the clipboard it stands marked, to be copied by hand. */
  function copy(): void {
    input.current?.select()
    navigator.clipboard?.writeText(secret).then(
      () => setCopied(true),
      () => {},
    )
  }

  return (
    <section className={styles.once} aria-live="polite">
      <p>{hint}</p>
      <TextInput
        ref={input}
        label={label}
        description={
          <>
            For <bdi>{whose}</bdi>
          </>
        }
        value={secret}
        readOnly
        className="mono"
      />
      <Buttons>
        <Button onClick={copy}>{isCopied ? 'Copied' : 'Copy'}</Button>
        <Button variant="default" onClick={onFirstClick(onDone)}>
          Done
        </Button>
      </Buttons>
    </section>
  )
}
