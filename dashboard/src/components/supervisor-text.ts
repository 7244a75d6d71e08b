import { words } from './text.ts'

const TEXTS: Record<string, string> = {
  note: 'Noted',
  whisper: 'Whispered to the agent',
  say: 'Had the agent speak',
  mute: 'Muted the agent',
  unmute: 'Let the agent speak again',
  takeover: 'Took the call over',
  release: 'Gave the call back to the agent',
  transfer: 'Put the call through',
  escalate: 'Escalated',
  end_call: 'Ended the call',
}

/** What a supervisor did to a call; what is new here in the words of the API. */
export function supervisorText(action: string): string {
  return TEXTS[action] ?? words(action)
}
