import { Panel } from '../../components/panel.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { words } from '../../components/text.ts'
import type { VoiceSession } from './call-queries.ts'
import styles from './call-score.module.css'

type Qa = NonNullable<VoiceSession['qa']>

/** How good the call was found, and why. */
export function CallScore({ qa }: { qa: Qa }) {
  const { score, high_quality: isGood, summary, criteria } = qa
  return (
    <Panel title="Score" aside={<StatusBadge tone={isGood ? 'good' : 'wait'}>{percent(score)}</StatusBadge>}>
      {summary && <p className={styles.summary}>{summary}</p>}
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

function percent(score: number): string {
  return `${Math.round(score * 100)}%`
}
