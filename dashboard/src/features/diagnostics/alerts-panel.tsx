import { useQuery } from '@tanstack/react-query'
import { Facts } from '../../components/facts.tsx'
import { ReadPanel } from '../../components/read-panel.tsx'
import { StatusBadge, type Tone } from '../../components/status-badge.tsx'
import { words } from '../../components/text.ts'
import styles from './alerts-panel.module.css'
import { type Alerts, alertsQuery } from './diagnostics-queries.ts'

const TONES: Record<string, Tone> = { ok: 'good', info: 'busy', warning: 'wait', critical: 'bad' }

/** How credentials travel, and what to change about it. */
export function AlertsPanel() {
  const query = useQuery(alertsQuery)
  return (
    <ReadPanel title="Credentials" aside={query.data && <Severity level={query.data.status} />} query={query}>
      {({ alerts, diagnostics }) => (
        <>
          {alerts.length === 0 && <p>Nothing to change.</p>}
          <ul className={styles.alerts}>
            {alerts.map((alert) => (
              <Alert key={alert.code} alert={alert} />
            ))}
          </ul>
          <Facts
            facts={[
              ['Secrets that verify', diagnostics.stream_auth_secret_count],
              ['Own stream secret', yesOrNo(diagnostics.stream_auth_primary_configured)],
              ['Previous secret', yesOrNo(diagnostics.stream_auth_previous_configured)],
              ['Credentials in addresses', yesOrNo(diagnostics.legacy_query_auth_enabled)],
            ]}
          />
        </>
      )}
    </ReadPanel>
  )
}

function Alert({ alert: { code, severity, message, action } }: { alert: Alerts['alerts'][number] }) {
  return (
    <li>
      <Severity level={severity} /> <span className="mono">{code}</span>
      <p>{message}</p>
      <p className={styles.action}>{action}</p>
    </li>
  )
}

function Severity({ level }: { level: string }) {
  return <StatusBadge tone={TONES[level] ?? 'quiet'}>{words(level)}</StatusBadge>
}

function yesOrNo(value: boolean): string {
  return value ? 'Yes' : 'No'
}
