import { Facts } from '../../components/facts.tsx'
import { Column } from '../../components/fields.tsx'
import { Instant } from '../../components/instant.tsx'
import { JsonView } from '../../components/json-view.tsx'
import { LookButton } from '../../components/look-button.tsx'
import styles from './delivery-detail.module.css'
import type { Delivery } from './delivery-queries.ts'
import { DeliveryStatus } from './delivery-status.tsx'

/** What was sent, and what came back. */
export function DeliveryDetail({ delivery }: { delivery: Delivery }) {
  const { event, id, url, status, attempts, attempt_log: log } = delivery
  return (
    <LookButton title={event}>
      <Column>
        <Facts
          facts={[
            ['Status', <DeliveryStatus key="status" status={status} />],
            ['Attempts', attempts],
            ['Next attempt', <Instant key="next" at={delivery.next_attempt_at} />],
            ['Delivered', <Instant key="delivered" at={delivery.delivered_at} />],
            ['Address', url],
            [
              'Id',
              <span key="id" className="mono">
                {id}
              </span>,
            ],
          ]}
        />
        {log.length > 0 && (
          <>
            <h3 className={styles.part}>Answers</h3>
            <ol className={styles.attempts}>
              {log.map(({ at, status_code: code, error, duration_ms: lastedMs }) => (
                <li key={at}>
                  <Instant at={at} />: {[code, error].filter((part) => part !== null).join(' ')}, after {lastedMs} ms
                </li>
              ))}
            </ol>
          </>
        )}
        <h3 className={styles.part}>Body</h3>
        <JsonView label="Body" value={delivery.body} />
      </Column>
    </LookButton>
  )
}
