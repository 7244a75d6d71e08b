import { Page } from '../../components/page.tsx'
import { AlertsPanel } from './alerts-panel.tsx'
import { AudioPanel } from './audio-panel.tsx'
import { CachePanel } from './cache-panel.tsx'
import { GivenUpPanels } from './given-up-panels.tsx'
import { OutboxPanel } from './outbox-panel.tsx'

/** How the installation is. */
export function DiagnosticsPage() {
  return (
    <Page title="Diagnostics" description="How the installation is, read again every ten seconds." isInOrder>
      <AlertsPanel />
      <OutboxPanel />
      <GivenUpPanels />
      <CachePanel />
      <AudioPanel />
    </Page>
  )
}
