import { Elapsed } from '../../components/elapsed.tsx'
import { RowLink } from '../../components/list-table.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { DASH } from '../../components/text.ts'
import styles from './live-page.module.css'
import type { LiveCall } from './live-queries.ts'
import { LiveState, whoIn } from './live-state.tsx'

type LiveCardProps = {
  tenantId: string
  call: LiveCall
  /** It goes on no more, and keeps its place until nobody points at the wall. */
  isOver: boolean
}

/** A call on the wall: who, with whom, for how long, and what was said last. */
export function LiveCard({ tenantId, call, isOver }: LiveCardProps) {
  const { stream_sid: streamSid, agent_name: agentName, last_words: last, last_response_ms: waitedMs } = call
  return (
    <li className={styles.card}>
      <div className={styles.head}>
        <RowLink to="/t/$tenantId/live/$streamSid" params={{ tenantId, streamSid }}>
          {whoIn(call)}
        </RowLink>
        {!isOver && <Elapsed since={call.started_at} />}
      </div>
      <div className={styles.facts}>
        {isOver ? <StatusBadge tone="quiet">Over</StatusBadge> : <LiveState call={call} />}
        <bdi>{agentName}</bdi>
        {waitedMs !== undefined && <span className="numbers">answers in {waitedMs} ms</span>}
      </div>
      <p className={styles.words}>
        {last ? (
          <>
            <span className={styles.speaker}>
              <bdi>{last.role === 'agent' ? agentName : 'Caller'}</bdi>:
            </span>{' '}
            <bdi>{last.text}</bdi>
          </>
        ) : (
          DASH
        )}
      </p>
    </li>
  )
}
