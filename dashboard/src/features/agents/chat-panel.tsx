import { Button, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type SubmitEvent, useState } from 'react'
import { useHoldRoleFor } from '../../api/held-role.ts'
import { FailureState } from '../../components/failure-state.tsx'
import { Panel } from '../../components/panel.tsx'
import { useKeptFocus } from '../../components/use-kept-focus.ts'
import { askInText, type Said } from './agent-queries.ts'
import styles from './chat-panel.module.css'

type ChatPanelProps = { tenantId: string; versionId: string }

/** Something that was said, with the tools that the agent would have used before. */
type Shown = Said & { tools: string[] }

/** Tries a version in text. */
export function ChatPanel({ tenantId, versionId }: ChatPanelProps) {
  const [said, setSaid] = useState<Shown[]>([])
  const [text, setText] = useState('')
  const ask = useMutation({
    mutationFn: (so: Shown[]) =>
      askInText(
        tenantId,
        versionId,
        so.map(({ role, text }) => ({ role, text })),
      ),
    onSuccess: ({ message, function_calls }, so) => {
      const tools = function_calls.map(({ name, arguments: given }) => `${name} ${JSON.stringify(given)}`)
      setSaid([...so, { ...message, tools }])
    },
  })

  useHoldRoleFor(ask)
  // A button that waits for an answer cannot have the focus either.
  const place = useKeptFocus([said.length === 0, ask.isPending].join())

  function send(event: SubmitEvent): void {
    event.preventDefault()
    if (ask.isPending || text.trim() === '') return
    const next: Shown[] = [...said, { role: 'caller', text: text.trim(), tools: [] }]
    setSaid(next)
    setText('')
    ask.mutate(next)
  }

  /** Of what is said from then on, nothing has failed. */
  function begin(): void {
    setSaid([])
    ask.reset()
  }

  return (
    <Panel title="Try it in text" aside="As it was saved last. Nothing is kept, and no tool is run">
      <div className={styles.chat} ref={place} tabIndex={-1}>
        <ol className={styles.said} aria-live="polite">
          {said.map(({ role, text: words, tools }, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: what was said stays where it is
            <li key={at}>
              {tools.map((tool, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: an agent may use one twice in the same way
                <p key={index} className={styles.tool}>
                  Would use <span className="mono">{tool}</span>
                </p>
              ))}
              <p className={role === 'caller' ? styles.caller : ''} dir="auto">
                <span className="unseen" dir="ltr">
                  {role === 'caller' ? 'Caller: ' : 'Agent: '}
                </span>
                {words}
              </p>
            </li>
          ))}
        </ol>
        {ask.error && <FailureState error={ask.error} onRetry={() => ask.mutate(said)} />}
        {said.length === 0 ? (
          <div>
            <Button variant="default" loading={ask.isPending} onClick={() => ask.mutate([])}>
              Hear the greeting
            </Button>
          </div>
        ) : (
          <form className={styles.ask} onSubmit={send}>
            <TextInput
              label="You, as the caller"
              maxLength={8_000}
              value={text}
              onChange={(event) => setText(event.currentTarget.value)}
            />
            <Button type="submit" loading={ask.isPending}>
              Say it
            </Button>
            <Button variant="default" disabled={ask.isPending} onClick={begin}>
              Begin again
            </Button>
          </form>
        )}
      </div>
    </Panel>
  )
}
