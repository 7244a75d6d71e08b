import { StatusBadge, type Tone } from '../../components/status-badge.tsx'
import { words } from '../../components/text.ts'
import type { Campaign, Contact } from './campaign-queries.ts'

const CAMPAIGN_TONES: Record<Campaign['status'], Tone> = {
  draft: 'quiet',
  running: 'busy',
  paused: 'wait',
  completed: 'good',
  cancelled: 'quiet',
  paused_by_breaker: 'bad',
}

const CONTACT_TONES: Record<Contact['status'], Tone> = {
  pending: 'wait',
  dialing: 'busy',
  completed: 'good',
  failed: 'bad',
  refused: 'bad',
  cancelled: 'quiet',
}

export const CAMPAIGN_STATUSES = Object.keys(CAMPAIGN_TONES)
export const CONTACT_STATUSES = Object.keys(CONTACT_TONES)

/** Whether it calls. */
export function CampaignStatus({ status }: Pick<Campaign, 'status'>) {
  return <StatusBadge tone={CAMPAIGN_TONES[status]}>{words(status)}</StatusBadge>
}

/** What has become of somebody. */
export function ContactStatus({ status }: Pick<Contact, 'status'>) {
  return <StatusBadge tone={CONTACT_TONES[status]}>{words(status)}</StatusBadge>
}

/** How many it is done with, and of how many. */
export function doneOf({ contacts }: Pick<Campaign, 'contacts'>): { done: number; total: number } {
  const { total, pending, dialing } = contacts
  return { done: total - pending - dialing, total }
}
