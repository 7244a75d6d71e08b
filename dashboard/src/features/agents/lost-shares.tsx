import { Instant } from '../../components/instant.tsx'
import type { LastRollback } from './agent-queries.ts'
import styles from './rollout-panel.module.css'

/** Which versions have lost their share by the policy of the rollout, when, and why: nobody has taken it from them by hand. */
export function LostShares({ lost: { at, versions, reasons } }: { lost: LastRollback }) {
  return (
    <div>
      {versions.map(({ agent_version_id: id, version_number: number, traffic_percentage: percent }) => (
        <p key={id} className={styles.rest}>
          Version {number} lost its {percent}% by the policy below: <Instant at={at} />
        </p>
      ))}
      <ul className={styles.reasons}>
        {reasons.map((reason) => (
          <li key={reason}>{reason}</li>
        ))}
      </ul>
    </div>
  )
}
