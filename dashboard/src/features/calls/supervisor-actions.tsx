import { Instant } from '../../components/instant.tsx'
import { Panel } from '../../components/panel.tsx'
import { supervisorText } from '../../components/supervisor-text.ts'
import { phoneText } from '../../components/text.ts'
import type { VoiceSession } from './call-queries.ts'
import styles from './supervisor-actions.module.css'

type Action = VoiceSession['supervisor_actions'][number]

/** What supervisors did to a call, oldest first; nothing where they did nothing. */
export function SupervisorActions({ actions }: { actions: Action[] }) {
  if (actions.length === 0) return null
  return (
    <Panel title="What supervisors did">
      <ol className={styles.actions}>
        {actions.map((action) => (
          <li key={action.id}>
            <ActionItem action={action} />
          </li>
        ))}
      </ol>
    </Panel>
  )
}

function ActionItem({ action: { action, supervisor, target, reason, note, created_at: at } }: { action: Action }) {
  return (
    <>
      <div className={styles.head}>
        <strong>{supervisorText(action)}</strong>
        {target && <span>to {phoneText(target)}</span>}
        {supervisor && <bdi>{supervisor}</bdi>}
        <Instant at={at} />
      </div>
      {reason && (
        <p className={styles.text} dir="auto">
          {reason}
        </p>
      )}
      {note && (
        <p className={styles.text} dir="auto">
          {note}
        </p>
      )}
    </>
  )
}
