import { BEEP_ID } from '../recording/beep.ts'

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

/** Whether audio of this id are the tones of keys that the agent presses. */
export function isKeyTones(itemId: string): boolean {
  return itemId.startsWith(`${OWN}keys-`)
}

/** Whether audio of this id is no model's. */
export function isOwnAudio(itemId: string): boolean {
  return itemId === BEEP_ID || itemId.startsWith(OWN)
}
