import { DASH, words } from './text.ts'

const TEXTS: Record<string, string> = {
  caller_hangup: 'The caller hung up',
  agent_hangup: 'The agent hung up',
  supervisor: 'A supervisor ended it',
  transferred: 'It was put through',
  idle_timeout: 'The caller said nothing for too long',
  max_duration: 'It had lasted as long as a call may',
  carrier_lost: 'The carrier was lost',
  model_lost: 'The model was lost',
  process_lost: 'Its process was lost',
  voicemail: 'A voicemail had answered',
  rejected: 'It was refused',
  shutdown: 'The service was stopped',
}

/** All for which a call ends. */
export const END_REASONS = Object.keys(TEXTS)

/** Why a call ended, as a sentence without its full stop; one that is new here in the words of the API, of none a dash. */
export function endReasonText(reason: string | null | undefined): string {
  return reason ? (TEXTS[reason] ?? words(reason)) : DASH
}
