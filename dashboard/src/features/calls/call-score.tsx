import { Panel } from '../../components/panel.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { words } from '../../components/text.ts'
import type { VoiceSession } from './call-queries.ts'
import styles from './call-score.module.css'

type Qa = NonNullable<VoiceSession['qa']>

type CallScoreProps = {
  qa: Qa
  /** The summary that stands on the page already: as a rule it is that of the score. */
  told: string | null
}

/** How good the call was found, and why. */
export function CallScore({ qa, told }: CallScoreProps) {
  const { score, high_quality: isGood, summary, criteria } = qa
  return (
    <Panel title="Score" aside={<ScoreBadge score={score} high_quality={isGood} />}>
      {summary && summary !== told && <p className={styles.summary}>{summary}</p>}
      <ul className={styles.criteria}>
        {criteria.map(({ name, score: part, reason }) => (
          <li key={name}>
            <span className={styles.name}>{words(name)}</span> <span className="numbers">{percent(part)}</span>
            {reason && <p className={styles.reason}>{reason}</p>}
          </li>
        ))}
      </ul>
    </Panel>
  )
}

/** How good a call was found, in one look. */
export function ScoreBadge({ score, high_quality: isGood }: Pick<Qa, 'score' | 'high_quality'>) {
  return <StatusBadge tone={isGood ? 'good' : 'wait'}>{percent(score)}</StatusBadge>
}

function percent(score: number): string {
  return `${Math.round(score * 100)}%`
}
