import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useHoldRole } from '../../api/held-role.ts'
import { usePerson } from '../../api/session.ts'
import { AskAction, type Question } from '../../components/ask-action.tsx'
import { ConfirmAction } from '../../components/confirm-action.tsx'
import { FailureState } from '../../components/failure-state.tsx'
import { Panel } from '../../components/panel.tsx'
import { isSecondClick } from '../../components/second-click.ts'
import { dialled } from '../../components/text.ts'
import styles from './live-page.module.css'
import { act, type CallAction, type LiveCall, liveKey } from './live-queries.ts'
import { whoIn } from './live-state.tsx'

const WORDS: Question = { name: 'text', label: 'Words', isRequired: true, isLong: true, maxLength: 2_000 }
const NOTE: Question = { name: 'note', label: 'Note', isRequired: true, isLong: true, maxLength: 2_000 }
const REASON: Question = { name: 'reason', label: 'Why', maxLength: 500 }
const NUMBER: Question = {
  ...{ name: 'target', label: 'Number', placeholder: '+12025550123', isRequired: true, maxLength: 200 },
}
const TO_WHOM: Question = { name: 'target', label: 'To whom', placeholder: 'A name or a number', maxLength: 200 }

type LiveActionsProps = { tenantId: string; call: LiveCall; isOver: boolean }

/** What a supervisor can do to a live call. Words that somebody writes when it ends stay where they are. */
export function LiveActions({ tenantId, call, isOver }: LiveActionsProps) {
  const { name } = usePerson()
  const client = useQueryClient()
  const [done, setDone] = useState('')
  const [error, setError] = useState<unknown>(null)
  useHoldRole(error !== null)

  async function perform(asked: CallAction, told: string): Promise<void> {
    await act(tenantId, call.stream_sid, { ...asked, supervisor: name })
    setError(null)
    setDone(told)
    await client.invalidateQueries({ queryKey: liveKey(tenantId) })
  }
  const turn = () =>
    call.muted
      ? perform({ action: 'unmute' }, 'The agent speaks again.')
      : perform({ action: 'mute' }, 'The agent is silent, and goes on listening.')

  function fail(failure: unknown): void {
    setDone('')
    setError(failure)
  }

  return (
    <div hidden={isOver}>
      <Panel title="Step in">
        <div className={styles.actions}>
          <AskAction
            about={whoIn(call)}
            label="Whisper"
            questions={[WORDS]}
            onAnswer={(answers) => perform({ action: 'whisper', ...answers }, 'The agent was told.')}
          >
            The agent is told this, and the caller does not hear it.
          </AskAction>
          <AskAction
            about={whoIn(call)}
            label="Say"
            questions={[WORDS]}
            onAnswer={(answers) => perform({ action: 'say', ...answers }, 'The agent says it.')}
          >
            The agent says this to the caller.
          </AskAction>
          <AskAction
            about={whoIn(call)}
            label="Note"
            questions={[NOTE]}
            onAnswer={(answers) => perform({ action: 'note', ...answers }, 'Noted.')}
          >
            For the record; nobody on the line learns of it.
          </AskAction>
          <Button
            variant="default"
            // What it has done is not undone by a second click, nor by a key that is held.
            onClick={(event) => !isSecondClick(event) && void turn().catch(fail)}
            onKeyDown={(event) => event.repeat && event.key === 'Enter' && event.preventDefault()}
          >
            {call.muted ? 'Unmute the agent' : 'Mute the agent'}
          </Button>
          <AskAction
            about={whoIn(call)}
            label="Escalate"
            questions={[TO_WHOM, REASON]}
            onAnswer={(answers) => perform({ action: 'escalate', ...answers }, 'Escalated.')}
          >
            The call is marked as escalated, and your webhook is told. The agent goes on.
          </AskAction>
          <AskAction
            about={whoIn(call)}
            label="Transfer"
            questions={[NUMBER, REASON]}
            onAnswer={({ target, ...answers }) =>
              perform({ action: 'transfer', ...answers, target: dialled(target) }, 'The call is put through.')
            }
          >
            The caller is put through to one of the tenant's transfer targets, at once.
          </AskAction>
          <ConfirmAction
            about={whoIn(call)}
            label="End the call"
            isGrave
            onConfirm={() => perform({ action: 'end_call' }, 'The call was ended.')}
          >
            The caller is cut off at once, without a goodbye.
          </ConfirmAction>
        </div>
        {error ? <FailureState error={error} /> : null}
        <output className={styles.done}>{done}</output>
      </Panel>
    </div>
  )
}
