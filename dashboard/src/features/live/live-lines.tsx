import { Button } from '@mantine/core'
import { useState } from 'react'
import { useHoldRole } from '../../api/held-role.ts'
import { usePerson } from '../../api/session.ts'
import { useAudioLine } from '../../audio/use-audio-line.ts'
import { ConfirmAction } from '../../components/confirm-action.tsx'
import { FailureState } from '../../components/failure-state.tsx'
import { Column } from '../../components/fields.tsx'
import { LineControls } from '../../components/line-controls.tsx'
import { Panel } from '../../components/panel.tsx'
import { useUnsaved } from '../../components/unsaved-changes.tsx'
import { useKeptFocus } from '../../components/use-kept-focus.ts'
import styles from './live-page.module.css'
import { act, type LiveCall, openLine } from './live-queries.ts'

type Kind = 'listen' | 'takeover'

const TEXTS: Record<Kind, { told: string; other: string; hangUp: string }> = {
  listen: { told: 'You hear both sides. Nobody hears you.', other: 'Call', hangUp: 'Stop listening' },
  takeover: {
    told: 'You speak with the caller. The agent is silent, and goes on when you hand back.',
    other: 'Caller',
    hangUp: 'Hand back to the agent',
  },
}

/** Lines of audio into a live call: to hear it, and to speak in the agent's place. */
export function LiveLines({ tenantId, call }: { tenantId: string; call: LiveCall }) {
  const { name } = usePerson()
  const line = useAudioLine()
  const [kind, setKind] = useState<Kind>('listen')
  const isBusy = line.phase === 'opening' || line.phase === 'open'
  const controls = useKeptFocus([isBusy, call.taken_over].join())
  useHoldRole(line.failure !== null)
  useUnsaved(kind === 'takeover' && line.phase === 'open', 'line')
  const { told, other, hangUp } = TEXTS[kind]

  function open(asked: Kind): void {
    setKind(asked)
    line.open(asked, () => openLine(tenantId, call, { kind: asked, supervisor: name }))
  }
  const release = () => act(tenantId, call.stream_sid, { action: 'release', supervisor: name })

  return (
    <Panel title="On the line">
      <Column>
        {line.failure && <FailureState error={line.failure} />}
        <div ref={controls} tabIndex={-1}>
          {isBusy ? (
            <>
              <p>{told}</p>
              <LineControls line={line} other={other} hangUp={hangUp} isListening={kind === 'listen'} />
            </>
          ) : (
            <div className={styles.actions}>
              <Button variant="default" onClick={() => open('listen')}>
                Listen
              </Button>
              {call.taken_over ? (
                <ConfirmAction key="release" label="Hand back to the agent" isGrave onConfirm={release}>
                  <bdi>{call.taken_over_by ?? 'Somebody else'}</bdi> speaks with the caller, and is cut off. The agent
                  goes on.
                </ConfirmAction>
              ) : (
                <ConfirmAction key="takeover" label="Take over" onConfirm={async () => open('takeover')}>
                  The agent falls silent, and you speak with the caller yourself.
                </ConfirmAction>
              )}
            </div>
          )}
        </div>
      </Column>
    </Panel>
  )
}
