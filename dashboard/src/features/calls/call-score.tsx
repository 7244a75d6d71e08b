import { useMay } from '../../api/session.ts'
import { Column } from '../../components/fields.tsx'
import { Panel } from '../../components/panel.tsx'
import { percentText } from '../../components/percent.ts'
import { StatusBadge } from '../../components/status-badge.tsx'
import { words } from '../../components/text.ts'
import type { CallLog, VoiceSession } from './call-queries.ts'
import styles from './call-score.module.css'
import { ScoreActions } from './score-actions.tsx'

type Qa = NonNullable<VoiceSession['qa']>

type CallScoreProps = {
  tenantId: string
  /** Its summary stands on the page already: as a rule it is that of the score. */
  call: CallLog
  session: VoiceSession
}

/** How good the call was found, and why, or why it was not scored. Whoever may has it scored there; before its end nobody. */
export function CallScore({ tenantId, call, session }: CallScoreProps) {
  const mayScore = useMay('operator')
  const { qa, ended_at: endedAt } = session
  if (qa === null && endedAt === null) return null
  return (
    <Panel title="Score" aside={<ScoreState session={session} />}>
      <Column>
        {qa ? <Reasons qa={qa} told={call.summary} /> : <p className={styles.unscored}>{whyUnscored(session)}</p>}
        {mayScore && endedAt !== null && <ScoreActions {...{ tenantId, call, session }} />}
      </Column>
    </Panel>
  )
}

/** How good a call was found, in one look. */
export function ScoreBadge({ score, high_quality: isGood }: Pick<Qa, 'score' | 'high_quality'>) {
  return <StatusBadge tone={isGood ? 'good' : 'wait'}>{percentText(score)}</StatusBadge>
}

function ScoreState({ session: { qa, qa_status: status } }: { session: VoiceSession }) {
  if (qa) return <ScoreBadge {...qa} />
  return status === 'pending' ? (
    <StatusBadge tone="wait">Not yet</StatusBadge>
  ) : (
    <StatusBadge tone="quiet">Not scored</StatusBadge>
  )
}

function whyUnscored({ qa_status: status, qa_reason: reason }: VoiceSession): string {
  if (status === 'pending') return 'The chat model has still to score it.'
  return reason ?? 'Nobody has scored it.'
}

function Reasons({ qa: { summary, criteria }, told }: { qa: Qa; told: string | null }) {
  return (
    <>
      {summary && summary !== told && (
        <p className={styles.summary} dir="auto">
          {summary}
        </p>
      )}
      {criteria.length > 0 && (
        <ul className={styles.criteria}>
          {criteria.map(({ name, score, reason }) => (
            <li key={`${name} ${score} ${reason}`}>
              <span className={styles.name}>{words(name)}</span> <span className="numbers">{percentText(score)}</span>
              {reason && (
                <p className={styles.reason} dir="auto">
                  {reason}
                </p>
              )}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
