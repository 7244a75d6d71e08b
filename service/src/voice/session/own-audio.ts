import { heard } from '../playback.ts'
import { BEEP_ID } from '../recording/beep.ts'
import type { Step } from './state.ts'

/** What is ours of what the caller hears, and no item of a model's: a person who has the call, hold music, tones. */
const OWN = 'own-'

/** The id of such audio: the `count`th of its kind. */
export function ownId(kind: 'person' | 'hold' | 'wait' | 'keys', count: number): string {
  return `${OWN}${kind}-${count}`
}

/** Whether audio of this id is what is heard while a tool, or an answer, takes long. */
export function isHoldAudio(itemId: string): boolean {
  return itemId.startsWith(`${OWN}wait-`)
}

/** Whether tones of keys that the agent presses are still to be heard, or to be sent. */
export function isPressing({ state, nowMs }: Step): boolean {
  const isKeyTones = (itemId: string) => itemId.startsWith(`${OWN}keys-`)
  if (state.dueKeys !== '') return true
  return heard(state.playback, nowMs).some(({ itemId, heardMs, sentMs }) => isKeyTones(itemId) && heardMs < sentMs)
}

/** Whether audio of this id is no model's. */
export function isOwnAudio(itemId: string): boolean {
  return itemId === BEEP_ID || itemId.startsWith(OWN)
}
