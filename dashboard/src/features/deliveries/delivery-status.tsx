import { StatusBadge, type Tone } from '../../components/status-badge.tsx'
import { words } from '../../components/text.ts'
import type { Delivery } from './delivery-queries.ts'

const TONES: Record<Delivery['status'], Tone> = { pending: 'wait', delivered: 'good', failed: 'bad' }

/** Whether the webhook has it. */
export function DeliveryStatus({ status }: Pick<Delivery, 'status'>) {
  return <StatusBadge tone={TONES[status]}>{words(status)}</StatusBadge>
}
