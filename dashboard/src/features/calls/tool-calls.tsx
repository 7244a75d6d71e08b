import { Panel } from '../../components/panel.tsx'
import { StatusBadge, type Tone } from '../../components/status-badge.tsx'
import { durationText, words } from '../../components/text.ts'
import type { VoiceSession } from './call-queries.ts'
import styles from './tool-calls.module.css'

type ToolCall = VoiceSession['function_calls'][number]

const TONES: Record<ToolCall['status'], Tone> = { ok: 'good', error: 'bad', timeout: 'wait' }

const NOT_KNOWN = 'Nothing yet. Where its process has ended, it is not known whether it was done.'

/** The tools that the model called, with what it sent and what it was told. */
export function ToolCalls({ calls }: { calls: ToolCall[] }) {
  return (
    <Panel title="Tools">
      <ol className={styles.calls}>
        {calls.map((call) => (
          <li key={`${call.seq} ${call.start_ms} ${call.name}`}>
            <details className={styles.call}>
              <summary className={styles.head}>
                <span className="mono">{call.name}</span>
                <StatusBadge tone={TONES[call.status]}>
                  {isAnswered(call) ? words(call.status) : 'No answer'}
                </StatusBadge>
                <span className={styles.time}>
                  at {durationText(call.start_ms / 1_000)}, {call.duration_ms} ms
                </span>
              </summary>
              <h3 className={styles.name}>Sent</h3>
              <pre className={styles.json}>{jsonOf(call.arguments)}</pre>
              <h3 className={styles.name}>Told</h3>
              <pre className={styles.json}>{isAnswered(call) ? jsonOf(call.result) : NOT_KNOWN}</pre>
            </details>
          </li>
        ))}
      </ol>
    </Panel>
  )
}

/** It is shown from its beginning on. */
function isAnswered({ result }: ToolCall): boolean {
  return result !== null
}

function jsonOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}
