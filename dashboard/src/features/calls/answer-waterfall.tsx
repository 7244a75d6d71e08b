import { Panel } from '../../components/panel.tsx'
import { durationText } from '../../components/text.ts'
import { type AnswerTime, answerTimes } from './answer-times.ts'
import styles from './answer-waterfall.module.css'
import type { VoiceSession } from './call-queries.ts'

/** How long the caller waited for each answer: one bar below the other, the longest as wide as there is room. */
export function AnswerWaterfall({ session }: { session: VoiceSession }) {
  const times = answerTimes(session)
  const longestMs = Math.max(1, ...times.map(({ waitedMs }) => waitedMs))
  if (times.length === 0) return null
  return (
    <Panel title="Time to answer" aside="From the caller's last sound until the agent was heard">
      <table className={styles.times}>
        <thead className="unseen">
          <tr>
            <th scope="col">Asked at</th>
            <th scope="col">Waited</th>
            <th scope="col">Tools</th>
          </tr>
        </thead>
        <tbody>
          {times.map((time) => (
            <TimeRow key={time.seq} time={time} longestMs={longestMs} />
          ))}
        </tbody>
      </table>
    </Panel>
  )
}

function TimeRow({ time, longestMs }: { time: AnswerTime; longestMs: number }) {
  const { askedMs, waitedMs, stages, tools } = time
  const told = stages.map(({ name, ms }) => `${name} ${ms} ms`).join(', ')
  return (
    <tr>
      <td className={styles.at}>{durationText(askedMs / 1_000)}</td>
      <td className={styles.wait}>
        <span className={styles.bar} style={{ width: `${(100 * waitedMs) / longestMs}%` }}>
          {stages.map(({ name, ms }) => (
            <span key={name} className={styles.stage} title={`${name} ${ms} ms`} style={{ flexGrow: ms }} />
          ))}
        </span>
        <span className={styles.number}>{waitedMs} ms</span>
        {told !== '' && <span className={styles.told}>{told}</span>}
      </td>
      <td className={styles.tools}>{tools.map(({ name, durationMs }) => `${name} ${durationMs} ms`).join(', ')}</td>
    </tr>
  )
}
